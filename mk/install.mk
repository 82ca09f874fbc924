# Installation below DESTDIR and PREFIX.

MAN := $(wildcard man/*.[1-8])
SHARE = $(DESTDIR)$(PREFIX)/share
man_in_place = $(SHARE)/man/man$(lastword $(subst ., ,$(1)))/$(notdir $(1))
COMPLETION = $(SHARE)/bash-completion/completions/usher
COMPLETION_ZSH = $(SHARE)/zsh/site-functions/_usher
COMPLETION_FISH = $(SHARE)/fish/vendor_completions.d/usher.fish

.PHONY: install uninstall
install: all ## install the program, its man pages and the completion of bash, zsh and fish (DESTDIR= PREFIX=/usr/local)
	install -D -m 755 $(BUILD)/usher $(DESTDIR)$(PREFIX)/bin/usher
	$(foreach m,$(MAN),install -D -m 644 $(m) $(call man_in_place,$(m)) &&) true
	install -D -m 644 tools/completions/usher.bash $(COMPLETION)
	install -D -m 644 tools/completions/usher.zsh $(COMPLETION_ZSH)
	install -D -m 644 tools/completions/usher.fish $(COMPLETION_FISH)
	install -D -m 644 LICENSE $(SHARE)/doc/usher/LICENSE

uninstall: ## remove what install put there; rules, grants and journals stay
	rm -f $(DESTDIR)$(PREFIX)/bin/usher $(foreach m,$(MAN),$(call man_in_place,$(m))) $(COMPLETION) $(COMPLETION_ZSH) $(COMPLETION_FISH) $(SHARE)/doc/usher/LICENSE
	-rmdir $(SHARE)/doc/usher

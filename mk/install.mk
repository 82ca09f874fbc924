# Installation below DESTDIR and PREFIX.

MAN := $(wildcard man/*.[1-8])
BASH_COMPLETION := $(wildcard tools/completions/usher.bash)
ZSH_COMPLETION := $(wildcard tools/completions/_usher)
FISH_COMPLETION := $(wildcard tools/completions/usher.fish)

.PHONY: install
install: all ## install the program, man pages and completions (DESTDIR= PREFIX=/usr/local)
	install -D -m 755 $(BUILD)/usher $(DESTDIR)$(PREFIX)/bin/usher
	$(foreach m,$(MAN),install -D -m 644 $(m) $(DESTDIR)$(PREFIX)/share/man/man$(lastword $(subst ., ,$(m)))/$(notdir $(m)) &&) true
	$(if $(BASH_COMPLETION),install -D -m 644 $(BASH_COMPLETION) $(DESTDIR)$(PREFIX)/share/bash-completion/completions/usher)
	$(if $(ZSH_COMPLETION),install -D -m 644 $(ZSH_COMPLETION) $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_usher)
	$(if $(FISH_COMPLETION),install -D -m 644 $(FISH_COMPLETION) $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/usher.fish)
	install -D -m 644 LICENSE $(DESTDIR)$(PREFIX)/share/doc/usher/LICENSE

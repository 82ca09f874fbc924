# Installation below DESTDIR and PREFIX.

MAN := $(wildcard man/*.[1-8])

.PHONY: install
install: all ## install the program and its man pages (DESTDIR= PREFIX=/usr/local)
	install -D -m 755 $(BUILD)/usher $(DESTDIR)$(PREFIX)/bin/usher
	$(foreach m,$(MAN),install -D -m 644 $(m) $(DESTDIR)$(PREFIX)/share/man/man$(lastword $(subst ., ,$(m)))/$(notdir $(m)) &&) true
	install -D -m 644 LICENSE $(DESTDIR)$(PREFIX)/share/doc/usher/LICENSE

# What the build needs, from Debian.

.PHONY: deps
deps: ## install what is missing (Debian packages)
	@mk/deps.sh $(DEBIAN)

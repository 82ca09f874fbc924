# Style and a second compiler.

.PHONY: lint
lint: ## clang with the same warnings, gcc for the other architecture, shellcheck and clang-format where installed (FORMAT=1 makes format an error)
	@if command -v clang >/dev/null; then $(MAKE) --no-print-directory -s CC=clang BUILD=$(BUILD)/clang all test-bins && echo "ok lint: clang"; \
	 else echo "skip lint: no clang"; fi
	@if command -v $(CROSS)-gcc >/dev/null; then $(MAKE) --no-print-directory -s cross && echo "ok lint: $(CROSS)"; \
	 else echo "skip lint: no $(CROSS)-gcc"; fi
	@if command -v shellcheck >/dev/null; then shellcheck -S warning mk/*.sh tests/run-* tests/check-kernel tests/kernel/* tools/completions/*.bash && echo "ok lint: shellcheck"; \
	 else echo "skip lint: no shellcheck"; fi
	@if [ "$(FORMAT)" = 1 ]; then clang-format --dry-run -Werror $(wildcard $(FLOORS:%=%/*.[ch])); fi

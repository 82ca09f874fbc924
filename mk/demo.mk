# A session to watch.

.PHONY: demo
demo: deps ## install, build, and watch a small agent being allowed, refused, redirected and asked about
	@$(MAKE) --no-print-directory -s all
	@examples/demo/run.sh $(BUILD)/usher

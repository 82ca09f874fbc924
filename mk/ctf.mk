# Capture the flag.

.PHONY: ctf
ctf: all ## a shell that must not be able to read a flag; try
	@USHER=$(abspath $(BUILD))/usher tests/ctf

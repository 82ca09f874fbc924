# The arrows of the house: who may include whom.

.PHONY: layers
layers: ## prove that includes follow the arrows (supervisor -> policy, audit, rules; ...)
	@mk/layers.sh .

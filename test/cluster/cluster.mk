# The cluster to test on. Included by the Makefile at the top of the checkout.

CLUSTER_DRIVER := cd $(dir $(lastword $(MAKEFILE_LIST))) && go run .

.PHONY: cluster-up cluster-down

cluster-up: ## Start a real Kubernetes cluster to test on (root; some minutes the first time, then 5 seconds)
	@$(CLUSTER_DRIVER) up

cluster-down: ## Remove that cluster, with every trace
	@$(CLUSTER_DRIVER) down

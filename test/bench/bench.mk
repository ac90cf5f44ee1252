# berth side by side with helm and kubectl. Included by the Makefile at the top
# of the checkout.

BENCH_DIR := $(dir $(lastword $(MAKEFILE_LIST)))
BENCH_FLAGS ?=

.PHONY: bench

bench: ## Compare berth with helm and kubectl on the test cluster (builds them the first time; BENCH_FLAGS='-rounds 9 -timeline')
	@cd $(BENCH_DIR)../cluster && go run . up
	@kubeconfig=$$(cd $(BENCH_DIR)../cluster && go run . kubeconfig) && \
		cd $(BENCH_DIR) && go run . -kubeconfig "$$kubeconfig" $(BENCH_FLAGS) && \
		go run ./streams -kubeconfig "$$kubeconfig" && \
		go run ./ssh -kubeconfig "$$kubeconfig" && \
		go run ./loop -kubeconfig "$$kubeconfig" && \
		go run ./volumes

# Shortcuts for people. CI runs .ci/run and .ci/nightly themselves.

.PHONY: help test check bench nightly generate cover lint

help: ## print the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "%-10s %s\n", $$1, $$2}' Makefile

test: ## run the short tests
	go test -short ./...

check: ## run every check that a change must pass (.ci/run)
	.ci/run

bench: ## run the benchmarks; BENCH selects some: make bench BENCH=Execute
	go test -run '^$$' -bench '$(or $(BENCH),.)' -benchmem ./...

nightly: ## run the batteries, bars, mutants and fuzzing (.ci/nightly)
	.ci/nightly

generate: ## write the generated code of the examples and scripts anew
	go generate ./...

cover: ## run the short tests and print the coverage of each package and function
	go test -short -coverprofile=cover.out ./...
	go tool cover -func=cover.out

lint: ## run golangci-lint with .golangci.yml
	go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0 run ./...

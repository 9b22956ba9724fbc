GO    ?= go
BUILD ?= build

# Made anew each time: the go command knows best what has changed.
.PHONY: extension
extension:
	$(GO) build -tags geosql_loadable -buildmode=c-shared -trimpath -ldflags '-s -w' -o $(BUILD)/geosql.so ./extension

# The packages of the hosts, beside the extension.
.PHONY: package
package: extension
	$(GO) run ./packaging $(BUILD)/geosql.so

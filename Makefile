GO    ?= go
BUILD ?= build

# Made anew each time: the go command knows best what has changed. The state of git is
# left out, so that the same sources give the same bytes, in anybody's clone.
.PHONY: extension
extension:
	$(GO) build -buildvcs=false -tags geosql_loadable -buildmode=c-shared -trimpath -ldflags '-s -w' -o $(BUILD)/geosql.so ./extension

# What takes too long for every run of the tests: random statements by the thousand, kills by
# the hundred, power cuts at every point, simulated audits by the hundred thousand, projections
# by the hundred million, and an audit of all functions for each planted bug.
.PHONY: long
long:
	GEOSQL_STATEMENTS=100000 $(GO) test ./sqlitefn -run "GroupsThatAReadingReaches|SealedAndPlain|EvaluatedAndPlain" -v -timeout 60m
	GEOSQL_AUDITS=200000 $(GO) test ./audit/bound -run InEveryAudit -v -timeout 60m
	GEOSQL_KILLS=1000 GEOSQL_POWER=20 $(GO) test ./ledger/file -run Crash -v -timeout 60m
	GEOSQL_KILLS=300 $(GO) test ./ledger/postgres -run Crash -v -timeout 60m
	GEOSQL_KILLS=200 $(GO) test ./conformance/serve -run Kill -v -timeout 60m
	GEOSQL_GAPPA=1 $(GO) test ./mechanism/exact ./mechanism/scalar ./mechanism/planar -run Filters -v -timeout 60m
	GEOSQL_POINTS=100000000 $(GO) test ./mechanism/planar -run ProjectionWithMath -v
	GEOSQL_SPIN=1 $(GO) test ./ledger/spin -v -timeout 60m
	GEOSQL_AUDIT_BUGS=blind $(GO) test -tags planted ./internal/planted -run AuditFinds -v -timeout 12h

# All fuzz targets for HOURS hours together. What they find is left in testdata/fuzz beside them;
# inputs that are new are kept in Go's cache and are where the next run begins.
HOURS    ?= 1
PARALLEL ?= 2
.PHONY: fuzz
fuzz:
	$(GO) run ./internal/fuzz -hours $(HOURS) -parallel $(PARALLEL)

# The packages of the hosts, beside the extension.
.PHONY: package
package: extension
	$(GO) run ./packaging $(BUILD)/geosql.so

# The documentation as a site, in $(BUILD)/site; any server of files shows it, under any path.
.PHONY: site
site: docs/.vitepress/node_modules
	docs/.vitepress/node_modules/.bin/vitepress build docs --outDir $(abspath $(BUILD)/site)

docs/.vitepress/node_modules: docs/.vitepress/package.json
	npm install --prefix docs/.vitepress --no-package-lock --no-audit --no-fund
	touch $@

# The figures of docs/benchmarks.md that are measured from outside, for a quiet machine: 12 minutes in all. Data take up to
# 1.2 GB where temporary files are (TMPDIR). growth: how cost grows with rows, accounts, traces and places. beside: Google's
# library (if GEOSQL_GOOGLE_DP names the folder go of a checkout of google/differential-privacy), DuckDB and plain loops. bounds:
# what each work may cost, what it cost at BEFORE, and what it costs; -only optimal-1000,build are two that take minutes each.
BEFORE ?= 752b6d8
.PHONY: figures growth beside bounds first-build
figures: growth beside bounds
growth:
	$(GO) run ./benchmarks growth -write
	$(GO) run ./docs/pictures
beside:
	$(GO) run ./benchmarks beside -write
bounds:
	$(GO) run ./benchmarks bounds -before $(BEFORE) -write

# What the first build of the command is made of.
first-build:
	$(GO) run ./benchmarks build

GO    ?= go
BUILD ?= build

# What is published is built so that the same commit gives the same bytes, in anybody's clone: no path gets into it, of git
# nothing but the commit, and SQLite's header is that of the module which has its source.
COMMIT  ?= $(if $(wildcard .git),$(shell git describe --always --dirty --abbrev=40 --exclude '*'))
SQLITE   = $(shell $(GO) mod download github.com/mattn/go-sqlite3 && $(GO) list -m -f '{{.Dir}}' github.com/mattn/go-sqlite3)
PUBLISH  = CGO_ENABLED=1 CGO_CFLAGS='-O2 -I$(SQLITE)' $(GO) build -buildvcs=false -trimpath \
	-ldflags '-s -w -buildid= -X github.com/geosql/geosql/internal/version.commit=$(COMMIT) $(LINK)'
LOADABLE = -buildmode=c-shared -tags geosql_loadable

# Made anew each time: the go command knows best what has changed. That for tests of programs has predictable answers.
.PHONY: extension test-extension
extension:
	$(PUBLISH) $(LOADABLE) -o $(BUILD)/geosql.so ./cmd/geosql-extension
test-extension:
	$(PUBLISH) $(LOADABLE),geosql_test -o $(BUILD)/geosql_test.so ./cmd/geosql-extension

# The command and both extensions for each platform, each with its own compiler of C.
PLATFORMS = linux-amd64 linux-arm64 windows-amd64
.PHONY: $(PLATFORMS) static
linux-amd64:   export CC = gcc
linux-arm64:   export CC = aarch64-linux-gnu-gcc
windows-amd64: export CC = x86_64-w64-mingw32-gcc
linux-amd64 linux-arm64: SUFFIXES = .so
windows-amd64: SUFFIXES = .dll .exe
$(PLATFORMS): export GOOS = $(firstword $(subst -, ,$@))
$(PLATFORMS): export GOARCH = $(lastword $(subst -, ,$@))
$(PLATFORMS):
	$(PUBLISH) -o $(BUILD)/$@/geosql$(word 2,$(SUFFIXES)) ./cmd/geosql
	$(PUBLISH) $(LOADABLE) -o $(BUILD)/$@/geosql$(firstword $(SUFFIXES)) ./cmd/geosql-extension
	$(PUBLISH) $(LOADABLE),geosql_test -o $(BUILD)/$@/geosql_test$(firstword $(SUFFIXES)) ./cmd/geosql-extension

# The command with all that it needs, for Alpine and for containers that have nothing else. The C library is musl: glibc's
# loads parts of itself at run time. SQLite parses deep expressions recursively, and would crash on the 128 kB that musl gives a
# thread: the program asks for 8 MB, as many as a thread of glibc's has, and the kernel gives those pages only that are used.
# MUSL_CC is gcc on Alpine itself.
MUSL_CC ?= musl-gcc
static: export CC = $(MUSL_CC)
static: LINK = -linkmode external -extldflags "-static -Wl,-z,stack-size=8388608"
static:
	$(PUBLISH) -o $(BUILD)/static/geosql ./cmd/geosql

# What takes too long for every run of the tests, of which CONTRIBUTING.md has a table: all cases of each test, random statements
# by the thousand, kills by the hundred, power cuts at every point, simulated audits by the hundred thousand, projections by the
# hundred million, SQLite of the system, other platforms, half an hour's audit, and an audit of all functions for each planted bug.
.PHONY: long
long:
	GEOSQL_WHOLE=1 $(GO) test -timeout 60m ./...
	$(GO) test -tags libsqlite3 ./internal/conformance -run '^TestScripts$$/^Go$$'
	GEOSQL_STATEMENTS=10000 $(GO) test ./sqlitefn/... -run "GroupsThat|CertainCounts|AnswersFirst|Payable|RandomMisuses|AndPlainAlike" -v -timeout 120m
	GEOSQL_STATEMENTS=400 $(GO) test ./cmd/geosql -run PreflightRefusesNothingElse -v -timeout 30m
	GEOSQL_AUDITS=200000 $(GO) test ./internal/audit/bound -run InEveryAudit -v -timeout 60m
	GEOSQL_KILLS=1000 GEOSQL_POWER=20 $(GO) test ./ledger/file -run Crash -v -timeout 60m
	GEOSQL_KILLS=300 $(GO) test ./ledger/postgres -run Crash -v -timeout 60m
	GEOSQL_KILLS=200 $(GO) test ./internal/conformance/serve -run Kill -v -timeout 60m
	GEOSQL_GAPPA=1 $(GO) test ./mechanism/exact ./mechanism/scalar ./mechanism/planar -run Filters -v -timeout 60m
	GEOSQL_POINTS=100000000 $(GO) test ./mechanism/planar -run ProjectionWithMath -v
	GEOSQL_RELEASE=1 $(GO) test ./internal/packaging -run Release -v -timeout 120m
	GEOSQL_STATIC=1 $(GO) test ./cmd/geosql -run Static -v -timeout 30m
	$(MAKE) arm64
	$(MAKE) windows
	GEOSQL_SPIN=1 $(GO) test ./internal/spin -v -timeout 60m
	$(MAKE) race
	$(GO) run ./internal/fuzz -time 20s
	$(GO) run ./cmd/geosql audit --minutes 30
	cd internal/tools && $(GO) build -o ../../.ci/bin/ honnef.co/go/tools/cmd/staticcheck
	cd release/beam && CGO_ENABLED=0 ../../.ci/bin/staticcheck ./...
	GEOSQL_AUDIT_BUGS=blind $(GO) test -tags planted ./internal/planted -run AuditFinds -v -timeout 12h

# What goroutines share, watched: everything that has any, with SQLite compiled for the watcher; in short what has none of it.
.PHONY: race race-short
race:
	$(GO) test -race -timeout 120m ./ledger/... ./serve/... ./release/...
	$(GO) test -race -timeout 60m ./sqlitefn -run 'SameTime|Connections|Pool|Processes'
race-short:
	$(GO) test -race ./serve/internal/wire ./serve/internal/throttle ./internal/files ./internal/turns ./internal/workers

# The README's commands on fresh machines, without what tests look for; in short its tests of what looks for tools, with the
# programs of Debian's essential packages, Go, gcc and git only.
PROGRAMS = $(shell dpkg -L $$(dpkg-query -W -f '$${Essential} $${Package}\n' | sed -n 's/^yes //p') | grep -E '^(/usr)?/bin/.') \
	$(shell for p in go gcc as ld git; do command -v $$p; done)
BARE_TEST = ./cmd/geosql-extension ./dataset/sqlite ./docs ./ledger/postgres/... ./mechanism/optimal ./release/internal/report \
	./serve ./serve/internal/console ./serve/internal/wire ./serve/internal/worker $(addprefix ./internal/,audit/host conformance conformance/clients emulate gappa \
	packaging/... pgtest spin sqlite sqlmath)
.PHONY: bare bare-short
bare:
	$(GO) run ./internal/bare
bare-short:
	rm -rf $(BUILD)/programs
	mkdir -p $(BUILD)/programs
	ln -sft $(BUILD)/programs $(PROGRAMS)
	env -u CI PATH=$(abspath $(BUILD)/programs) go test $(BARE_TEST)

# The tests as programs for windows/amd64, under wine. GEOSQL_KILLS is how many processes that charge are killed. Left out is what
# needs the command go. Of the hosts, Go's plays the scripts of the conformance suite, and so does Python for Windows, in which pip
# installs the wheel. TMPDIR has to be on a disk: on a tmpfs, wine 8 says "No more files" of a name that is not there, and pip gives up.
WINDOWS      = $(GO) run ./internal/emulate/gotest windows/amd64
WINDOWS_TEST = ./budget/... ./cmd/geosql/... ./dataset/... ./ledger ./ledger/engines ./ledger/file ./ledger/internal/... \
	./ledger/postgres/internal/... ./mechanism/... ./release/... ./sealed/... ./sqlitefn/... $(addprefix ./internal/,audit audit/bound boxes \
	cli/... counts decimal elementary files golden intern moment printable settings sqlite sqlmath turns varint vdbe version workers)
.PHONY: windows windows-short
windows: windows-short
	$(WINDOWS) -timeout 30m -run '^TestScripts$$/^Go$$' ./internal/conformance
	GEOSQL_EMULATED=1 $(GO) test ./internal/conformance -run '/ on windows|^TestExamples$$// on windows' -v -timeout 60m
	GEOSQL_KILLS=200 $(WINDOWS) -p 1 -timeout 180m $(WINDOWS_TEST)

# What a system does in its own way, the locks of files and the queue of processes, and numbers, which may not differ.
windows-short:
	$(WINDOWS) ./internal/files ./internal/turns
	$(WINDOWS) -run $(NUMBERS) $(NUMBERS_OF)

# Numbers that are the same to the last bit on every platform.
NUMBERS    = '^(TestNumbers|TestSameEverywhere)$$'
NUMBERS_OF = ./internal/elementary ./budget ./mechanism/planar ./mechanism/scalar ./mechanism/pim ./mechanism/density ./mechanism/optimal

# The tests as programs for linux/arm64, under qemu. Tests start programs, so the kernel has to run those for arm64 too: that is a
# setting of the whole machine, which Debian's qemu-user-static makes together with binfmt-support, and programs have to find
# the C library of the cross compiler. Left out are tests of what is not of the platform (docs, packages, pictures,
# benchmarks, tools) and of hosts and clients, which are programs of this machine: of the hosts, Go's plays the scripts of the
# conformance suite, and so does Python for ARM64, in which pip installs the wheel.
ARM64      = $(GO) run ./internal/emulate/gotest linux/arm64
ARM64_TEST = ./budget ./cmd/geosql/... ./cmd/geosql-study ./dataset/... ./ledger/... ./mechanism/... ./release/... ./sealed/... ./serve/... \
	./sqlitefn/... $(addprefix ./internal/,audit/... boxes cli/... counts decimal declaration elementary files golden intern moment \
	printable/... processes settings sqlite/... sqlmath study/... turns varint vdbe version workers)
ARM64_HERE = /proc/sys/fs/binfmt_misc/qemu-aarch64 /etc/qemu-binfmt/aarch64
.PHONY: arm64 arm64-short
arm64: arm64-short
	@for needed in $(ARM64_HERE); do test -e $$needed || { echo "make arm64: there is no $$needed." \
		"Debian's qemu-user-static and binfmt-support make the first; the second is a link to /usr/aarch64-linux-gnu" >&2; exit 1; }; done
	$(ARM64) -timeout 30m -run '^TestScripts$$/^Go$$' ./internal/conformance
	$(ARM64) -p 1 -timeout 180m $(ARM64_TEST)
	GEOSQL_EMULATED=1 $(GO) test ./internal/conformance -run '/ on linux|^TestExamples$$// on linux' -v -timeout 60m

arm64-short:
	$(ARM64) -run $(NUMBERS) $(NUMBERS_OF)

# All fuzz targets for HOURS hours together. What they find is left in testdata/fuzz beside them;
# inputs that are new are kept in Go's cache and are where the next run begins.
HOURS    ?= 1
PARALLEL ?= 2
.PHONY: fuzz
fuzz:
	$(GO) run ./internal/fuzz -hours $(HOURS) -parallel $(PARALLEL)

# The packages of the hosts for this machine, beside the extension.
.PHONY: package
package: extension
	$(GO) run ./internal/packaging $(BUILD) $(BUILD)/geosql.so

# All packages of a version for all platforms, in $(BUILD)/release, from a clone without changes.
STATED = $(shell sed -n 's/^const Version = "\(.*\)"$$/\1/p' internal/version/version.go)
.PHONY: release
release:
	@test '$(VERSION)' = '$(STATED)' || \
		{ echo "make release: VERSION is '$(VERSION)', and internal/version/version.go says $(STATED)" >&2; exit 1; }
	@test -z "$$(git status --porcelain)" || \
		{ echo "make release: git status shows changes that no commit has" >&2; exit 1; }
	rm -rf $(BUILD)/release
	$(MAKE) $(PLATFORMS) static device
	$(GO) run ./internal/packaging $(BUILD)/release \
		$(addprefix $(BUILD)/linux-amd64/,geosql geosql.so geosql_test.so) \
		$(addprefix $(BUILD)/linux-arm64/,geosql geosql.so geosql_test.so) \
		$(addprefix $(BUILD)/windows-amd64/,geosql.exe geosql.dll geosql_test.dll) $(BUILD)/static/geosql \
		$(addprefix $(BUILD)/device/,draw.wasm seal.wasm)

# The npm package geosql-device, in $(BUILD)/device: exact draws for browsers and Node, in WebAssembly of Go's own compiler,
# and sealing in a module of its own. No calls are inlined, which saves 5 % of their size and costs draws nothing that can be measured,
# and the collector of garbage is the older one, which is smaller by 12 kB.
WASM = CGO_ENABLED=0 GOEXPERIMENT=nogreenteagc GOOS=js GOARCH=wasm $(GO) build -buildvcs=false -trimpath -gcflags=all=-l -ldflags '-s -w -buildid='
.PHONY: device
device:
	mkdir -p $(BUILD)/device
	cp cmd/geosql-device/npm/* LICENSE $$($(GO) env GOROOT)/lib/wasm/wasm_exec.js $(BUILD)/device
	$(WASM) -o $(BUILD)/device/draw.wasm ./cmd/geosql-device/draw
	$(WASM) -o $(BUILD)/device/seal.wasm ./cmd/geosql-device/seal

# The documentation as a site, in $(BUILD)/site; any server of files shows it, under any path. GEOSQL_DEVICE is the package for devices, if
# it is made already.
.PHONY: site
site: $(if $(GEOSQL_DEVICE),,device) docs/.vitepress/node_modules
	GEOSQL_DEVICE=$(or $(GEOSQL_DEVICE),$(abspath $(BUILD))/device) docs/.vitepress/node_modules/.bin/vitepress build docs --outDir $(abspath $(BUILD)/site)

docs/.vitepress/node_modules: docs/.vitepress/package.json
	npm install --prefix docs/.vitepress --no-package-lock --no-audit --no-fund
	touch $@

# The figures of docs/benchmarks.md that are measured from outside, for a quiet machine: 12 minutes in all. Data take up to
# 1.2 GB where temporary files are (TMPDIR). growth: how cost grows with rows, accounts, traces and places. beside: Google's
# library (if GEOSQL_GOOGLE_DP names the folder go of a checkout of google/differential-privacy), DuckDB and plain loops. bounds:
# what each work may cost, and what it costs; -only optimal-1000,build are two that take minutes each.
.PHONY: figures growth beside bounds first-build
figures: growth beside bounds
growth:
	$(GO) run ./internal/benchmarks growth -write
	$(GO) run ./docs/pictures
beside:
	$(GO) run ./internal/benchmarks beside -write
bounds:
	$(GO) run ./internal/benchmarks bounds -write

# What the first build of the command is made of.
first-build:
	$(GO) run ./internal/benchmarks build

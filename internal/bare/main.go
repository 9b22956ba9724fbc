// Command bare runs the README's first commands on fresh machines: in a new root that has Debian's smallest system, Go, a C
// compiler and git, and nothing else that tests look for. It takes root's rights, debootstrap, unshare and ip.
//
//	go run ./internal/bare [-only REGEXP] [-root FOLDER]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// commands are the README's, in its order.
const commands = "go run ./cmd/geosql demo >/dev/null && go test ./..."

// A machine is a kind of machine that users have. Each has the packages of the ones before it, too.
type machine struct {
	name     string
	packages []string // of Debian, beside those of the root
	user     string
	offline  bool // without a network, but with the modules that were downloaded before
}

// machines are in such an order that one root can be all of them.
var machines = []machine{
	{name: "root", user: "root"},
	{name: "user", user: ordinary},
	{name: "offline", user: ordinary, offline: true},
	{name: "psql", user: ordinary, packages: []string{"postgresql-client"}},
	{name: "PostgreSQL, user", user: ordinary, packages: []string{"postgresql"}}, // which depends on psql
	{name: "PostgreSQL, root", user: "root", packages: []string{"postgresql"}},
}

// ordinary is a user of every Debian. The clone belongs to this user and cannot be written.
const ordinary = "nobody"

func main() {
	only := flag.String("only", "", "test only machines with names that match this `regexp`")
	folder := flag.String("root", "", "keep the root in this `folder`, and use it again; otherwise it is removed")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *only, *folder)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bare:", err)
		os.Exit(1)
	}
}

// run makes a root, and tests all machines that are chosen, whether or not others fail.
func run(ctx context.Context, only, folder string) error {
	chosen, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	if folder == "" {
		if folder, err = os.MkdirTemp("", "geosql-bare-"); err != nil {
			return err
		}
		defer os.RemoveAll(folder)
	}
	r := root{ctx, folder}
	if err := r.build(); err != nil {
		return err
	}
	var failed []error
	for _, m := range machines {
		if !chosen.MatchString(m.name) || ctx.Err() != nil {
			continue
		}
		fmt.Printf("\n== %s\n", m.name)
		begun := time.Now()
		if err := r.test(m); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", m.name, err))
		}
		fmt.Printf("== %s took %v\n", m.name, time.Since(begun).Round(time.Second))
	}
	return errors.Join(append(failed, ctx.Err())...)
}

// A root is a folder that has a system of its own.
type root struct {
	ctx    context.Context
	folder string
}

// path returns where a path of the root is on this machine.
func (r root) path(name string) string { return filepath.Join(r.folder, name) }

// run runs a program of this machine.
func (r root) run(name string, args ...string) error {
	cmd := exec.CommandContext(r.ctx, name, args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// build installs the smallest system, unless it is there, copies the certificates that this machine trusts, and clones the last
// commit.
func (r root) build() error {
	clone := r.path("geosql")
	if _, err := os.Stat(clone); err != nil {
		if err := r.install(); err != nil {
			return err
		}
	}
	if err := r.run("cp", "-L", "--parents", "/etc/ssl/certs/ca-certificates.crt", r.folder); err != nil {
		return err
	}
	if err := os.RemoveAll(clone); err != nil {
		return err
	}
	return r.run("git", "clone", "-q", ".", clone)
}

// install installs the smallest system. Packages bring no recommended ones, and start no services.
func (r root) install() error {
	if err := r.run("debootstrap", "--variant=minbase", "--include=gcc,libc6-dev,git", "bookworm", r.folder); err != nil {
		return err
	}
	for name, text := range map[string]string{
		"usr/sbin/policy-rc.d":           "#!/bin/sh\nexit 101\n",
		"etc/apt/apt.conf.d/10recommend": "APT::Install-Recommends \"false\";\n",
	} {
		if err := os.WriteFile(r.path(name), []byte(text), 0o755); err != nil {
			return err
		}
	}
	for _, folder := range []string{"usr/local/go", "modules", "home/go"} {
		if err := os.MkdirAll(r.path(folder), 0o755); err != nil {
			return err
		}
	}
	return os.Chmod(r.folder, 0o755) // for users other than root
}

// test runs the commands on a machine.
func (r root) test(m machine) error {
	if len(m.packages) > 0 {
		err := r.enter(machine{user: "root"}, "apt-get update -q && apt-get install -y -q "+strings.Join(m.packages, " "))
		if err != nil {
			return err
		}
	}
	if err := r.run("chown", "-R", m.user+":", r.path("geosql"), r.path("home/go")); err != nil {
		return err
	}
	return r.enter(m, "cd /geosql && go clean -testcache && "+commands)
}

// inside runs with mounts and processes of its own: $1 is the new root, $2 the user, $3 where modules come from, $4 a command. Go
// is this machine's, and so are the modules that it has downloaded before, as if from a proxy. Without a network there is 127.0.0.1.
const inside = `
ip link set lo up
mount -t proc proc "$1/proc"
mount --rbind /dev "$1/dev"
show() { mount --bind "$1" "$2"; mount -o remount,bind,ro "$2"; }
show "$(go env GOROOT)" "$1/usr/local/go"
show "$(go env GOMODCACHE)/cache/download" "$1/modules"
[ "$2" = root ] || show "$1/geosql" "$1/geosql"
exec chroot --userspec="$2:" "$1" env -i HOME=/home/go PATH=/usr/local/go/bin:/usr/sbin:/usr/bin:/sbin:/bin \
	DEBIAN_FRONTEND=noninteractive GOPROXY="${3:-file:///modules,$(go env GOPROXY)}" sh -c "$4"`

// enter runs a command in the root.
func (r root) enter(m machine, command string) error {
	args, proxy := []string{"--mount", "--pid", "--fork", "--kill-child"}, ""
	if m.offline {
		args, proxy = append(args, "--net"), "off"
	}
	return r.run("unshare", append(args, "sh", "-euc", inside, "sh", r.folder, m.user, proxy, command)...)
}

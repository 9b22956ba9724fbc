package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/cli/clitest"
)

func TestRole(t *testing.T) {
	t.Parallel()
	p := newSealed(t)
	password := filepath.Join(t.TempDir(), "password")
	check(t, os.WriteFile(password, []byte("open sesame\nnot this\n"), 0o600))
	add := func(name string, more ...string) []string {
		return append([]string{"role", p.out, "add", name, "--password-file", password, "--columns", "meter.kwh,meter.location"}, more...)
	}
	for _, args := range [][]string{
		add("ana", "--epsilon", "kWh=1", "--epsilon", "m=0.02", "--epsilon-max", "kWh=0.25", "--max-repeat", "3", "--timeout", "2.5", "--rows", "10", "--memory", "1000000",
			"--epsilon-min", "kWh=0.001", "--answers", "500", "--answer-bytes", "70000", "--exhausted", "leave_out"),
		add("bo", "--epsilon", "record=5"),
	} {
		if r := clitest.Run(t, "", args...); r.Status != 0 || r.Out != "" {
			t.Fatal(r)
		}
	}
	list := clitest.Query(t, "-csv", "role", p.out, "list")
	lines := strings.Split(strings.TrimSpace(list), "\n")
	const want = `ana,"meter.kwh,meter.location","kWh=1,m=0.02",kWh=0.25,3,2.5,10,1000000,kWh=0.001,500,70000,leave_out,`
	if len(lines) != 3 || !strings.HasPrefix(lines[1], want) || !strings.HasPrefix(lines[2], `bo,"meter.kwh,meter.location",record=5,,1,30,,,,,,refuse,`) {
		t.Errorf("roles\n%s\nwant\n%s..", list, want)
	}
	if text, err := os.ReadFile(p.out + "-ledger"); err != nil || strings.Contains(string(text), "sesame") {
		t.Error("the ledger has the password", err)
	}
	for _, c := range []struct {
		want   string
		status int
		args   []string
	}{
		{"there is a role ana: drop it first", 1, add("ana", "--epsilon", "kWh=1")},
		{"a role needs a limit on its cost to each account", 1, add("cy")},
		{"no answer about these columns is charged in km (kWh, m, record)", 1, add("cy", "--epsilon", "km=1")},
		{"the role has a largest epsilon in m and no budget in it", 1, add("cy", "--epsilon", "kWh=1", "--epsilon-max", "m=1")},
		{"the role has a least epsilon in m and no budget in it", 1, add("cy", "--epsilon", "kWh=1", "--epsilon-min", "m=1")},
		{"it must be a whole number above 0", 2, add("cy", "--epsilon", "kWh=1", "--answers", "0")},
		{"it must be like kWh=1", 2, add("cy", "--epsilon", "1")},
		{"it must be above 0", 2, add("cy", "--epsilon", "kWh=0")},
		{"it must be refuse or leave_out", 2, add("cy", "--epsilon", "kWh=1", "--exhausted", "drop")},
		{"a whole number from 1 to 4095", 2, add("cy", "--epsilon", "kWh=1", "--max-repeat", "0")},
		{"meter.room is not a sealed column", 1, []string{"role", p.out, "add", "cy", "--password-file", password, "--columns", "meter.room", "--epsilon", "kWh=1"}},
		{"give the password with --password-file", 2, []string{"role", p.out, "add", "cy", "--columns", "meter.kwh", "--epsilon", "kWh=1"}},
		{"only add takes flags about a role", 2, []string{"role", p.out, "drop", "ana", "--rows", "3"}},
		{"there is no role cy", 1, []string{"role", p.out, "drop", "cy"}},
		{"name the role", 2, []string{"role", p.out, "drop"}},
		{"after OUT write add or drop or list", 2, []string{"role", p.out, "remove", "ana"}},
	} {
		clitest.WantError(t, clitest.Run(t, "", c.args...), c.status, c.want)
	}
	if r := clitest.Run(t, "", "role", p.out, "drop", "ana"); r.Status != 0 {
		t.Fatal(r)
	}
	if list := clitest.Query(t, "-csv", "role", p.out, "list"); strings.Contains(list, "ana") || !strings.Contains(list, "bo") {
		t.Error(list)
	}
}

// Names of tables and columns may have dots.
func TestRoleColumnsWithDots(t *testing.T) {
	t.Parallel()
	db, out := clitest.TempFile(t, "in.db"), clitest.TempFile(t, "out.db")
	clitest.Query(t, db, `SELECT dx_universe('u', 0, 9, 1, 'kWh'); CREATE TABLE "a.b"(who TEXT, c INTEGER); CREATE TABLE a(who TEXT, "b.c" INTEGER);
		INSERT INTO "a.b" VALUES ('ana', 1); INSERT INTO a VALUES ('ana', 2)`)
	run := func(args ...string) {
		t.Helper()
		if r := clitest.Run(t, "", args...); r.Status != 0 {
			t.Fatalf("%q: %+v", args, r)
		}
	}
	run("keygen", out+".key")
	run("seal", db, out, "--key", out+".key.pub", "--yes",
		"--table", "a.b", "--account", "who", "--seal", "c:u", "--table", "a", "--account", "who", "--seal", "b.c:u")
	password := out + ".password"
	check(t, os.WriteFile(password, []byte("open sesame\n"), 0o600))
	add := []string{"role", out, "add", "ana", "--password-file", password, "--epsilon", "kWh=1", "--columns"}
	clitest.WantError(t, clitest.Run(t, "", append(add, "a.b.c")...), 2, `write TABLE.COLUMN, and a name that has a dot`)
	run(append(add, `"a.b".c`)...)
	if list := clitest.Query(t, "-json", "role", out, "list"); !strings.Contains(list, `"columns":"\"a.b\".c"`) {
		t.Error(list)
	}
}

package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/cli/clitest"
)

// listed returns the rows of list, without the header, with fingerprints as F1, F2, .. in the
// order in which they first appear.
func listed(t *testing.T, out string, seen map[string]string) string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(clitest.Query(t, "-csv", "collector", out, "list"))).ReadAll()
	check(t, err)
	if got := fmt.Sprint(rows[0]); got != "[name fingerprint state sessions]" {
		t.Errorf("columns %s", got)
	}
	var lines []string
	for _, row := range rows[1:] {
		if len(row[1]) != 16 {
			t.Errorf("fingerprint %q", row[1])
		}
		if seen[row[1]] == "" {
			seen[row[1]] = fmt.Sprintf("F%d", len(seen)+1)
		}
		row[1] = seen[row[1]]
		lines = append(lines, strings.Join(row, " "))
	}
	return strings.Join(lines, "; ")
}

func TestCollectors(t *testing.T) {
	t.Parallel()
	p := newSealed(t)
	seen := map[string]string{}
	wantList := func(want string) {
		t.Helper()
		if got := listed(t, p.out, seen); got != want {
			t.Errorf("list: %s, want %s", got, want)
		}
	}
	wantList("")
	sign, verify := p.keygen(clitest.TempFile(t, "c"))
	other, otherVerify := p.keygen(clitest.TempFile(t, "d"))
	if said := p.run("collector", p.out, "add", "c", "--verify", verify); !strings.HasPrefix(said, "c may add to "+p.out+": it signs with the key ") {
		t.Errorf("add says %q", said)
	}
	p.run("collector", p.out, "add", "c", "--verify", verify) // again
	p.run("--verify", otherVerify, "collector", p.out, "add", "d e")
	p.append("ana,1,2,,\n")
	p.append("ana,1,2,,\n", "--sign", sign)
	p.append("ana,1,2,,\n", "--sign", sign)
	p.append("ana,1,2,,\n")
	wantList("c F1 enrolled 2; d e F2 enrolled 0; append F3 enrolled 1; append F4 enrolled 1")
	if said := p.run("collector", p.out, "revoke", "c"); said != "revoked c: nothing that it has added opens any more, in 2 sessions of "+p.out+"\n" {
		t.Errorf("revoke says %q", said)
	}
	if said := p.run("collector", p.out, "revoke", "c"); said != "c was revoked before\n" {
		t.Errorf("revoke again says %q", said)
	}
	var third string
	for f, name := range seen {
		if name == "F3" {
			third = f
		}
	}
	clitest.WantError(t, clitest.Run(t, "", "collector", p.out, "revoke", "append"), 1, "append has 2 keys: revoke them one by one")
	p.run("collector", p.out, "revoke", third)
	wantList("c F1 revoked 2; d e F2 enrolled 0; append F3 revoked 1; append F4 enrolled 1")
	p.wantOpened("? 1 - NULL", "? 1 - NULL", "? 1 - NULL", "ana 1 2 NULL")

	clitest.WantError(t, clitest.Run(t, "", "collector", p.out, "add", "c", "--verify", verify), 1, "is revoked for ever")
	clitest.WantError(t, clitest.Run(t, "", "collector", p.out, "add", "x", "--verify", verify), 1, "is revoked for ever")
	clitest.WantError(t, clitest.Run(t, "", "collector", p.out, "add", "x", "--verify", otherVerify), 1, "is that of d e already")
	_, third = p.keygen(clitest.TempFile(t, "f"))
	clitest.WantError(t, clitest.Run(t, "", "collector", p.out, "add", "d e", "--verify", third), 1, "d e is enrolled with another key")
	p.run("collector", p.out, "add", "c", "--verify", third) // the place of a revoked one is free
	// A session of a stranger is in the list, and can be revoked too.
	away := copyFiles(t, p.out)
	sign, _ = p.keygen(clitest.TempFile(t, "g"))
	in := clitest.WriteFile(t, "who,room,kwh,lat,lon\nana,1,2,,\n")
	p.run("append", away, "meter", in, "--key", p.pub, "--sign", sign)
	check(t, os.Rename(away, p.out))
	wantList("c F1 revoked 2; d e F2 enrolled 0; append F3 revoked 1; append F4 enrolled 1; c F5 enrolled 0;  F6 not enrolled 1")
	for f, name := range seen {
		if name == "F6" {
			p.run("collector", p.out, "revoke", f)
		}
	}
	wantList("c F1 revoked 2; d e F2 enrolled 0; append F3 revoked 1; append F4 enrolled 1; c F5 enrolled 0;  F6 revoked 1")
	_ = other
}

func TestCollectorRefuses(t *testing.T) {
	t.Parallel()
	p := newSealed(t)
	_, verify := p.keygen(clitest.TempFile(t, "c"))
	names := clitest.WriteFile(t, "ana\n")
	for _, c := range []struct {
		status int
		args   []string
		want   string
	}{
		{2, []string{p.out}, "too few"},
		{2, []string{p.out, "drop", "c"}, "write accounts or add or declaration or list or revoke, not drop"},
		{2, []string{p.out, "add", "--verify", verify}, "name the collector: geosql collector " + p.out + " add NAME"},
		{2, []string{p.out, "add", "c"}, "add takes the collector's public key with --verify KEY.pub"},
		{2, []string{p.out, "revoke", "c", "--verify", verify}, "add takes"},
		{2, []string{p.out, "list", "c"}, "too many"},
		{2, []string{p.out, "list", "--key", p.key}, "work with accounts only"},
		{2, []string{p.out, "accounts", "--key", p.key}, "with --names FILE"},
		{2, []string{p.out, "accounts", "--names", names}, "give the private key"},
		{1, []string{p.out, "accounts", "--names", names, "--key", p.pub}, "is the public half"},
		{1, []string{p.out, "accounts", "--names", "none", "--key", p.key}, "none: " + clitest.NoSuchFile},
		{1, []string{p.out, "accounts", "--names", clitest.WriteFile(t, "\n"), "--key", p.key}, "holds no names"},
		{1, []string{p.out, "accounts", "--names", clitest.WriteFile(t, "ana\n*\n"), "--key", p.key}, "line 2: '*' stands for every account"},
		{1, []string{p.out, "add", "append", "--verify", verify}, "append is the name of keys"},
		{1, []string{p.out, "add", "c", "--verify", p.key}, "give its public half"},
		{1, []string{p.out, "add", "c", "--verify", "none"}, "none: " + clitest.NoSuchFile},
		{1, []string{p.out, "revoke", "c"}, "there is no collector c"},
		{1, []string{administered(t), "list"}, "is not sealed"},
	} {
		clitest.WantError(t, clitest.Run(t, "", append([]string{"collector"}, c.args...)...), c.status, c.want)
	}
}

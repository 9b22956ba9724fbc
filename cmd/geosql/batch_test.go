package main

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/geosql/geosql/cmd/geosql/internal/vault"
	"github.com/geosql/geosql/internal/cli/clitest"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sealed/batch"
)

// device returns a sealer as a device makes it, from the text that the owner hands out.
func (p sealedPlace) device(table, key string) *batch.Sealer {
	p.Helper()
	r := clitest.Run(p.T, "", "collector", p.out, "declaration")
	var d struct {
		Database string
		sealed.Declaration
	}
	check(p.T, json.Unmarshal([]byte(r.Out), &d))
	owner, err := vault.ReadPublicKey(p.pub)
	check(p.T, err)
	signer, err := vault.ReadPrivateKeys([]string{key}, "")
	check(p.T, err)
	if got := clitest.Query(p.T, "-csv", "-noheader", p.out, "SELECT lower(hex(id)) FROM geosql_sealed"); strings.TrimSpace(got) != d.Database {
		p.Errorf("the declaration says %s, the database %s", d.Database, got)
	}
	s, err := batch.New(owner, signer[0], &d.Declaration, table)
	check(p.T, err)
	return s
}

// readings returns the lines of a batch of readings of one account.
func readings(t *testing.T, s *batch.Sealer, account string, all ...float64) string {
	t.Helper()
	for i, x := range all {
		r := s.NewRow(account)
		r.SetPublic(1, string(rune('1'+i)))
		r.SetReading(2, x)
		check(t, s.Add(r))
	}
	lines, err := s.Seal()
	check(t, err)
	return lines
}

// addLines adds the lines of batches to table meter.
func (p sealedPlace) addLines(lines string) clitest.Result {
	p.Helper()
	name := clitest.TempFile(p.T, "in.jsonl")
	check(p.T, os.WriteFile(name, []byte(lines), 0o600))
	return clitest.Run(p.T, "", "append", p.out, "meter", name)
}

// The rows of a device are added as they stand, and open for the owner: moved into universe and domain, one entry an account,
// under the device's own pseudonyms. Batches may follow one another in a file.
func TestAppendBatches(t *testing.T) {
	t.Parallel()
	p := newSealed(t)
	sign, verify := p.keygen(clitest.TempFile(t, "c"))
	p.run("collector", p.out, "add", "phone", "--verify", verify)
	s := p.device("METER", sign)
	r := s.NewRow("ana")
	r.SetReading(2, 2.26)
	r.SetLocation(3, 48.5, 7)
	check(t, s.Add(r))
	r = s.NewRow("bo")
	r.SetPublic(1, `"a \"room\""`)
	r.SetReading(2, 99)
	check(t, s.Add(r))
	check(t, s.Add(s.NewRow("ana"))) // nothing but an account
	lines, err := s.Seal()
	check(t, err)
	if strings.Contains(lines, "ana") || strings.Contains(lines, "48") && strings.Contains(lines, "2.26") {
		t.Errorf("secrets in %s", lines)
	}
	got := p.addLines(lines + readings(t, s, "ana", -7))
	if got.Status != 0 || got.Err != "added 4 rows of 2 sessions to meter of "+p.out+"\n" {
		t.Fatalf("%+v", got)
	}
	p.wantOpened("ana NULL 2.5 48.5,3", "bo NULL 10 NULL", "? NULL NULL NULL", "ana 1 -1 NULL")
	for sql, want := range map[string]string{
		"SELECT count(*) FROM geosql_sealed_account":                                                "2",
		"SELECT count(DISTINCT who) FROM meter":                                                     "2",
		`SELECT count(*) FROM meter WHERE room = 'a "room"'`:                                        "1",
		"SELECT count(DISTINCT substr(kwh, 5, 12)) || count(kwh) FROM meter":                        "33",
		"SELECT count(DISTINCT number) || ' ' || count(DISTINCT signer) FROM geosql_sealed_session": "2 1",
	} {
		if n := p.count(sql); n != want {
			t.Errorf("%s: %s, want %s", sql, n, want)
		}
	}
	if sum := clitest.Query(t, "-csv", "-noheader", "--key", p.key, p.out, "SELECT dx_sum(kwh, 5) FROM meter"); !regexp.MustCompile(`^-?[0-9.]+\s$`).MatchString(sum) {
		t.Errorf("dx_sum is %q", sum)
	}
	p.run("collector", p.out, "revoke", "phone")
	p.wantOpened("? NULL - -", "? NULL - NULL", "? NULL NULL NULL", "? 1 - NULL")
}

// Without the ledger, anybody with the file adds it. Values of a device that nobody has enrolled do not open before it is.
func TestAppendBatchesWithoutLedger(t *testing.T) {
	t.Parallel()
	p := newSealed(t)
	sign, verify := p.keygen(clitest.TempFile(t, "c"))
	lines := readings(t, p.device("meter", sign), "ana", 3)
	clitest.WantError(t, p.addLines(lines), 1, "which is not enrolled")
	away := p
	away.out = copyFiles(t, p.out)
	if r := away.addLines(lines); r.Status != 0 {
		t.Fatalf("%+v", r)
	}
	check(t, os.Rename(away.out, p.out))
	p.wantOpened("? 1 X NULL")
	clitest.WantError(t, clitest.Run(t, "", "--key", p.key, p.out, "SELECT dx_sum(kwh, 5) FROM meter"), 1, "is not a value that was sealed for this database")
	p.run("collector", p.out, "add", "phone", "--verify", verify)
	p.wantOpened("ana 1 3 NULL")
	p.run("collector", p.out, "revoke", "phone")
	clitest.WantError(t, p.addLines(readings(t, p.device("meter", sign), "ana", 3)), 1, "is revoked")
}

// Nothing is added of a file with a fault in any batch, and no batch twice.
func TestAppendBatchesRefuses(t *testing.T) {
	t.Parallel()
	p := newSealed(t)
	sign, verify := p.keygen(clitest.TempFile(t, "c"))
	p.run("collector", p.out, "add", "phone", "--verify", verify)
	s := p.device("meter", sign)
	first, second := readings(t, s, "ana", 1, 2), readings(t, s, "ana", 3)
	line := strings.SplitAfter(first, "\n") // session, account, two rows, end
	flip := func(of, old string) string {   // another byte in the ciphertext of the last value
		at := strings.LastIndex(of, old) - 4
		b := []byte(of)
		if b[at] == 'A' {
			b[at] = 'B'
		} else {
			b[at] = 'A'
		}
		return string(b)
	}
	other := newSealed(t)
	otherSign, otherVerify := other.keygen(clitest.TempFile(t, "d"))
	other.run("collector", other.out, "add", "phone", "--verify", otherVerify)
	elsewhere := readings(t, other.device("meter", otherSign), "ana", 1)
	const unsigned, misplaced = "its collector has signed this batch with other lines", "is not a line of a batch"
	for name, c := range map[string]struct{ lines, want string }{
		"a changed public cell":       {first[:len(first)-len(line[4])-len(line[3])] + strings.Replace(line[3], `",`, `",7`, 1) + line[4], unsigned},
		"a changed value":             {strings.Join(line[:3], "") + flip(line[3], `",null`) + line[4], unsigned},
		"a row less":                  {line[0] + line[1] + line[2] + line[4], unsigned},
		"rows in another order":       {line[0] + line[1] + line[3] + line[2] + line[4], unsigned},
		"a row twice":                 {line[0] + line[1] + line[2] + line[2] + line[4], misplaced},
		"rows of another batch":       {line[0] + line[1] + line[2] + strings.SplitAfter(second, "\n")[2] + line[4], misplaced},
		"no account":                  {line[0] + line[2] + line[3] + line[4], misplaced},
		"no end":                      {strings.Join(line[:4], ""), "the last batch has no end"},
		"no session":                  {strings.Join(line[1:], ""), misplaced},
		"nothing":                     {"", "the last batch has no end"},
		"an empty line":               {first + "\n", misplaced},
		"a key twice in another case": {strings.Replace(first, `"row":`, `"x":1,"row":`, 1), misplaced},
		"another number":              {regexp.MustCompile(`"session":\d+`).ReplaceAllString(first, `"session":7`), "is not signed by its collector for this database"},
		"another signer":              {strings.Replace(first, signerOf(first), signerOf(elsewhere), 1), "is not signed by its collector for this database"},
		"another database":            {elsewhere, "is sealed for another database"},
		"another table":               {strings.Replace(first, `"table":"meter"`, `"table":"meters"`, 1), "is for table meters"},
		"the same twice":              {second + second, "was added before"},
		"one good, one not":           {second + strings.Join(line[:4], ""), "no end"},
	} {
		r := p.addLines(c.lines)
		if r.Status != 1 || !strings.Contains(r.Err, c.want) {
			t.Errorf("%s: %+v, want %s", name, r, c.want)
		}
	}
	if n := p.count("SELECT (SELECT count(*) FROM meter) + (SELECT count(*) FROM geosql_sealed_session) + (SELECT count(*) FROM geosql_sealed_account)"); n != "0" {
		t.Fatalf("%s rows were left", n)
	}
	if r := p.addLines(first); r.Status != 0 {
		t.Fatalf("%+v", r)
	}
	clitest.WantError(t, p.addLines(second+first), 1, "was added before")
	clitest.Query(t, p.out, "UPDATE geosql_sealed_session SET signature = zeroblob(64)")
	clitest.WantError(t, p.addLines(first), 1, "has the number of another session: the device has to seal these rows again")
	clitest.WantError(t, clitest.Run(t, "", "append", p.out, "meter", "x.jsonl", "--key", p.pub), 2, "takes no flag but --ledger")
	clitest.Query(t, p.out, "DELETE FROM geosql_sealed_key")
	clitest.WantError(t, p.addLines(second), 1, "is sealed for another key")
	p.wantOpened("? 1 X NULL", "? 2 X NULL")
}

// signerOf returns the text of the signer in the first line.
func signerOf(lines string) string {
	return regexp.MustCompile(`"signer":"([^"]+)"`).FindStringSubmatch(lines)[1]
}

// The order in which rows arose shows in neither counters nor places: of 2,000 rows in random order, Spearman's correlation
// with the order of sealing exceeds 6 standard deviations with a probability of 2e-9.
func TestBatchShuffles(t *testing.T) {
	p := newSealed(t)
	sign, _ := p.keygen(clitest.TempFile(t, "c"))
	s := p.device("meter", sign)
	const n = 2000
	for i := range n {
		r := s.NewRow("ana")
		r.SetPublic(1, strconv.Itoa(i))
		r.SetReading(2, 1)
		check(t, s.Add(r))
	}
	d := 0.0
	place, last := 0, int64(-1)
	lines, err := s.Seal()
	check(t, err)
	for line := range strings.Lines(lines) {
		var l struct{ Row []any }
		if check(t, json.Unmarshal([]byte(line), &l)); l.Row == nil {
			continue
		}
		value, err := base64.StdEncoding.DecodeString(l.Row[2].(string))
		check(t, err)
		h, err := sealed.ParseHeader(value)
		check(t, err)
		if int64(h.Counter) <= last {
			t.Fatalf("counter %d after %d", h.Counter, last)
		}
		last = int64(h.Counter)
		d += (l.Row[1].(float64) - float64(place)) * (l.Row[1].(float64) - float64(place))
		place++
	}
	if rho := 1 - 6*d/(n*(n*n-1.0)); place != n || rho*rho*(n-1) > 36 {
		t.Errorf("%d rows, with a correlation of %v", place, rho)
	}
}

package serve

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// One number of each account costs it epsilon once, of 40 readings under one pseudonym and more under another. It is the
// same question in any order of rows, and with SET geosql.epsilon. The same without dx_person costs as often as there are readings.
func TestPersons(t *testing.T) {
	p := newPlace(t, "1000")
	p.analyst("ann", "1000")
	file := filepath.Join(t.TempDir(), "new.csv")
	if err := os.WriteFile(file, []byte("meter,hour,zone,kwh,home\n"+owner+"-1,1000,east,3,1\n"+owner+"-1,1001,east,3,1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.run("append", p.path, "reading", file, "--key", p.key+".pub")
	s := p.serve()
	session := s.session("ann")
	session.answers(`SELECT count(*), count(DISTINCT meter) FROM reading`, "482 13")
	session.answers(`SELECT dx_sum(dx_person(kwh, 0, 10), 100) FROM reading`, "120") // all of them have more: 12 times 10, and not 13 times
	if spent := p.spent("record"); spent != 100 {
		t.Errorf("accounts have spent up to %v of record, want 100", spent)
	}
	session.answers(`SELECT dx_sum(dx_person(kwh, 0, 10), 100) FROM (SELECT kwh FROM reading ORDER BY hour DESC, meter)`, "120")
	for _, sql := range []string{`SET geosql.epsilon = 100`, `SELECT sum(dx_person(kwh, 0, 10)) FROM reading`} {
		if _, err := session.ask(sql); err != nil {
			t.Fatal(err)
		}
	}
	if spent := p.spent("record"); spent != 100 {
		t.Errorf("the same question costs: %v", spent)
	}
	session.answers(`SELECT dx_max(dx_person(kwh, 0, 1), 100), dx_avg(dx_person(kwh, 2, 5), 100) FROM reading WHERE zone = 'east'`, "1 5")
	if spent := p.spent("record"); spent != 300 {
		t.Errorf("two more answers about household-1 have cost %v in all, want 300", spent)
	}
	if _, err := session.ask(`SELECT dx_sum(kwh, 100, 'dh') FROM reading`); stateOf(err) != "53400" || !strings.Contains(err.Error(), "budget") {
		t.Errorf("40 records of each account: %v", err)
	}
	session.answers(`SELECT dx_radius('sum', 0.5, 1, 'energy', 'nd1')`, "2.1") // 3 ln 2
	s.stop()
}

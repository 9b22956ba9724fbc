package catalog

import (
	"reflect"
	"strings"
	"testing"

	"github.com/geosql/geosql/ledger"
)

// FuzzFacts adds any fact to a record: it is added, or refused by a line, and nothing of the record is lost.
func FuzzFacts(f *testing.F) {
	for _, kind := range []string{databaseFact, columnFact, collectorFact, revokedFact, erasedFact, sealedAsFact, "other"} {
		for _, text := range []string{
			``, `null`, `{}`, `[]`, `"x"`, `{"id":"AAAA"}`, `{"id":"AAECAwQFBgcICQoLDA0ODw=="}`, `{"name":"ana"}`,
			`{"Table":"reading","Name":"kwh","Account":"meter","Universe":{"Name":"u","Lo":0,"Hi":10,"Step":1,"Unit":"kWh"}}`,
			`{"Table":"trip","Name":"location","Domain":{"Name":"d","South":1,"West":2,"North":3,"East":4,"StepM":1}}`, `{"Verify":"AAAA","Name":"c"}`,
		} {
			f.Add(kind, text)
		}
	}
	f.Fuzz(func(t *testing.T, kind, text string) {
		r := &Record{Columns: []Column{{Table: "t", Name: "c"}}, Collectors: []Collector{{}}, Revoked: map[string]bool{"k": true}, Erased: map[string]bool{"ana": true}}
		before := *r
		err := r.add(ledger.Fact{Kind: kind, Text: text})
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%s %q: %q", kind, text, err)
		}
		if len(r.Columns) < 1 || !reflect.DeepEqual(r.Columns[:1], before.Columns) || len(r.Collectors) < 1 || !r.Revoked["k"] || !r.Erased["ana"] {
			t.Errorf("%s %q: %+v", kind, text, r)
		}
		if err == nil && kind == databaseFact {
			first := *r.Database
			r.add(ledger.Fact{Kind: kind, Text: `{"id":"` + strings.Repeat("/", 22) + `=="}`})
			if *r.Database != first {
				t.Errorf("%q is replaced", text)
			}
		}
	})
}

package role

import (
	"reflect"
	"strings"
	"testing"

	"github.com/geosql/geosql/ledger"
)

// FuzzFacts reads any facts as roles. A role that is read can be recorded, and read again as the same
// role; a role that is dropped is gone.
func FuzzFacts(f *testing.F) {
	good := newRole("ana", 1)
	f.Add(addedFact, good.Fact().Text)
	f.Add(droppedFact, good.Dropped().Text)
	f.Add(addedFact, `{"name":"ana","verifier":"","columns":null,"epsilon":{"kWh":"1"}}`)
	f.Add(addedFact, `{"name":"ana","columns":["reading.kwh"],"epsilon":{"kWh":-1,"m":1e400},"max_repeat":1,"timeout":1}`)
	f.Add(addedFact, `null`)
	f.Add(addedFact, `{}`)
	f.Add(droppedFact, `[]`)
	f.Add("other", `{`)
	f.Fuzz(func(t *testing.T, kind, text string) {
		roles := Roles{by: map[string]*Role{}}
		if roles.add(ledger.Fact{Kind: kind, Text: text}) != nil {
			return
		}
		for _, r := range roles.All() {
			if len(r.Verifier.StoredKey) == 0 {
				continue // nobody could log in, and no program makes such a role
			}
			if err := r.Check(); err != nil {
				if strings.Contains(err.Error(), "\n") {
					t.Errorf("%q: %q", text, err)
				}
				continue
			}
			again := Roles{by: map[string]*Role{}}
			if err := again.add(r.Fact()); err != nil || !reflect.DeepEqual(again.Find(r.Name), r) {
				t.Errorf("%q becomes %q: %v", text, r.Fact().Text, err)
			}
			if again.add(r.Dropped()) != nil || again.Find(r.Name) != nil {
				t.Errorf("%q cannot be dropped", text)
			}
		}
	})
}

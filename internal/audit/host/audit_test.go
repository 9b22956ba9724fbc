package host_test

import (
	"testing"
	"time"

	"github.com/geosql/geosql/internal/audit"
	"github.com/geosql/geosql/internal/audit/host"
	"github.com/geosql/geosql/internal/trials"
)

// A short audit finds nothing at any host.
func TestAudit(t *testing.T) {
	for name, newHost := range map[string]func(*testing.T) host.Host{"extension": host.NewExtensionOf, "server": host.NewServerOf} {
		t.Run(name, func(t *testing.T) {
			r, err := audit.Run(t.Context(), audit.Config{Host: newHost(t), Functions: []string{"dx_value"}, Time: time.Duration(trials.Fewer(2, 6)) * time.Second, Workers: 2})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range r.Functions {
				for _, a := range f.Attacks {
					for _, v := range a.Violations {
						t.Errorf("%s: %s", v.Pair, v.What)
					}
				}
			}
		})
	}
}

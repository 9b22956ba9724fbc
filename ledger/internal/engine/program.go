package engine

import (
	"fmt"
	"time"

	"github.com/geosql/geosql/internal/version"
	"github.com/geosql/geosql/ledger"
)

// A ledger notes which builds have written to it, each in a row of table meta: the key begins with [ProgramKey], and the value
// has the times of its first and its last write. A process renews the second with its first write, and then once in
// [ProgramPause]. Programs that do not know these rows pass over them, so that the tables keep their version.
const (
	ProgramKey   = "program "
	ProgramPause = int64(time.Hour / time.Microsecond)
)

// ThisProgram returns the key of this build.
func ThisProgram() string { return ProgramKey + version.Build() }

// ParseProgram reads a row of table meta.
func ParseProgram(key, value string) (ledger.Program, error) {
	var first, last int64
	if _, err := fmt.Sscanf(value, "%d %d", &first, &last); err != nil {
		return ledger.Program{}, fmt.Errorf("the ledger is damaged: %s has the times %q", key, value)
	}
	return ledger.Program{Build: key[len(ProgramKey):], First: time.UnixMicro(first).UTC(), Last: time.UnixMicro(last).UTC()}, nil
}

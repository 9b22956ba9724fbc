package session

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/geosql/geosql/internal/cli"
)

// An Action is something that a command does with a database, as in geosql role OUT add NAME.
type Action[F any] struct {
	Named bool // a name follows
	Run   F
}

// Choose returns the action that the operands of a command name, and the name behind it.
func Choose[F any](command string, operands []string, actions map[string]Action[F]) (run F, name string, err error) {
	path, chosen := operands[0], operands[1]
	action, known := actions[chosen]
	if len(operands) == 3 {
		name = operands[2]
	}
	switch {
	case !known:
		err = cli.UsageError(fmt.Sprintf("%s: after OUT write %s, not %s", command, strings.Join(slices.Sorted(maps.Keys(actions)), " or "), chosen))
	case action.Named && name == "":
		err = cli.UsageError(fmt.Sprintf("%[1]s: name the %[1]s: %[2]s %[1]s %[3]s %[4]s NAME", command, Program, path, chosen))
	case !action.Named && len(operands) == 3:
		err = cli.UsageError(command + ": too many arguments")
	}
	return action.Run, name, err
}

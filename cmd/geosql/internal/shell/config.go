package shell

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// configFile returns the file of commands that run first, "" if there is no place for it.
func configFile() string {
	dir := configFolder()
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "geosql", "rc")
}

// runConfig runs the commands of a file, if there is one, and reports errors of single ones. It takes no SQL, which would run on every
// database that is opened.
func (sh *shell) runConfig(ctx context.Context, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "--") {
			continue
		}
		err := fmt.Errorf("not a command such as .mode box: %s", line)
		if c := command(line); c != "" {
			err = sh.dotCommand(ctx, c)
		}
		if endsShell(ctx, err) {
			return err
		}
		if err != nil {
			sh.report(fmt.Errorf("%s, line %d: %w", file, number, err))
		}
	}
	return nil
}

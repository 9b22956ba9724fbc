package host

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// sealedFiles are the files of a sealed database.
type sealedFiles struct {
	key, database string
}

// filesIn returns the files of the sealed database in a folder.
func filesIn(folder string) sealedFiles {
	return sealedFiles{key: filepath.Join(folder, "key"), database: filepath.Join(folder, "sealed.db")}
}

// seal makes a sealed copy of a plain database with the command, as its owner would.
func seal(ctx context.Context, command, folder, plain string, tables []Sealed) (sealedFiles, error) {
	s := filesIn(folder)
	if err := runCommand(ctx, command, "keygen", s.key); err != nil {
		return s, err
	}
	args := []string{"seal", plain, s.database, "--key", s.key + ".pub", "--yes"}
	for _, t := range tables {
		args = append(args, "--table", t.Table, "--account", "account", "--public", "trial")
		for _, c := range t.Columns {
			args = append(args, "--seal", c)
		}
	}
	return s, runCommand(ctx, command, args...)
}

// runCommand runs the command geosql, and returns its output if it fails.
func runCommand(ctx context.Context, command string, args ...string) error {
	var said bytes.Buffer
	c := exec.CommandContext(ctx, command, args...)
	c.Stderr = &said
	if err := c.Run(); err != nil {
		return fmt.Errorf("geosql %s: %w: %s", args[0], err, strings.TrimSpace(said.String()))
	}
	return nil
}

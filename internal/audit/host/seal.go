package host

import (
	"bytes"
	"context"
	"fmt"
	"os"
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
		if t.Later {
			if err := setAside(ctx, command, plain, t); err != nil {
				return s, err
			}
		}
		args = append(args, "--table", t.Table, "--account", "account", "--public", "trial")
		for _, c := range t.Columns {
			args = append(args, "--seal", c)
		}
	}
	if err := runCommand(ctx, command, args...); err != nil {
		return s, err
	}
	for _, t := range tables {
		if t.Later {
			if err := runCommand(ctx, command, "append", s.database, t.Table, aside(plain, t), "--key", s.key+".pub"); err != nil {
				return s, err
			}
		}
	}
	return s, nil
}

// aside returns the name of the file with the later rows of a table.
func aside(plain string, t Sealed) string { return plain + "." + t.Table + ".csv" }

// setAside moves the later rows of a table into a file.
func setAside(ctx context.Context, command, plain string, t Sealed) error {
	columns := "trial, account"
	for _, c := range t.Columns {
		named, _, _ := strings.Cut(c, ":")
		columns += ", " + named
	}
	c := exec.CommandContext(ctx, command, "-csv", plain, "SELECT "+columns+" FROM "+t.Table+" WHERE later")
	rows, err := c.Output()
	if err != nil {
		return err
	}
	if err := os.WriteFile(aside(plain, t), rows, 0o600); err != nil {
		return err
	}
	return runCommand(ctx, command, plain, "DELETE FROM "+t.Table+" WHERE later")
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

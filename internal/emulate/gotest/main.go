// Command gotest runs the tests of packages as programs of another platform:
//
//	go run ./internal/emulate/gotest windows/amd64 -run Enumerated ./mechanism/exact
//
// All arguments after the platform are those of go test.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"

	"github.com/geosql/geosql/internal/emulate"
	"github.com/geosql/geosql/internal/need"
)

// The go command starts this program again for each test binary, with this first argument.
const runBinary = "run-binary"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:])
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		os.Exit(exit.ExitCode())
	case err != nil:
		fmt.Fprintln(os.Stderr, "gotest:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("usage: go run ./internal/emulate/gotest %v ARGUMENTS of go test", emulate.Platforms())
	}
	if args[0] == runBinary {
		return runProgram(ctx, args[1], args[2:])
	}
	platform, err := emulate.Named(args[0])
	if err != nil {
		return err
	}
	for _, program := range platform.Programs() {
		if _, err := need.Find(program); err != nil {
			return fmt.Errorf("%s cannot be emulated: %w", platform, err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	test := exec.CommandContext(ctx, "go", append([]string{"test", "-exec", self + " " + runBinary + " " + platform.String()}, args[1:]...)...)
	test.Env = platform.Environ()
	test.Stdout, test.Stderr = os.Stdout, os.Stderr
	return test.Run()
}

func runProgram(ctx context.Context, name string, program []string) error {
	platform, err := emulate.Named(name)
	if err != nil {
		return err
	}
	binary, err := platform.Command(ctx, program[0], program[1:]...)
	if err != nil {
		return err
	}
	binary.Stdin, binary.Stdout, binary.Stderr = os.Stdin, os.Stdout, os.Stderr
	return binary.Run()
}

//go:build linux

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/geosql/geosql/internal/cli/clitest"
)

// The job is submitted as to Flink: to a job server in another process, which is Prism's here. It
// runs the shards in this process, or in one of its own that gets the program as a staged file.
func TestJobServer(t *testing.T) {
	folder := t.TempDir()
	build := func(name, path string) string {
		t.Helper()
		out := filepath.Join(folder, name)
		if text, err := exec.Command("go", "build", "-o", out, path).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		return out
	}
	endpoint := startPrism(t, build("prism", "github.com/apache/beam/sdks/v2/go/cmd/prism"))
	// Prism 2.77 starts a process with --id='JOB', with the quotes, and waits for ever for JOB.
	start := filepath.Join(folder, "start.sh")
	script := fmt.Sprintf("#!/bin/sh\nfor a do shift; set -- \"$@\" \"$(printf %%s \"$a\" | tr -d \"'\")\"; done\nexec %s \"$@\"\n",
		build("boot", "github.com/apache/beam/sdks/v2/go/container"))
	if err := os.WriteFile(start, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	program := build("release-beam", ".")
	for _, flags := range [][]string{
		{"--environment_type=LOOPBACK"},
		{"--environment_type=PROCESS", `--environment_config={"command": "` + start + `"}`, "--worker_binary=" + program},
	} {
		t.Run(flags[0], func(t *testing.T) {
			t.Setenv("GEOSQL_STATE_DIR", t.TempDir())
			spec, out := writeJob(t, 1000, 3)
			args := append([]string{"--runner=flink", "--endpoint=" + endpoint, "--spec=" + spec}, flags...)
			if r := clitest.Run(t, "", args...); r.Status != 0 {
				t.Fatalf("status %d, %s", r.Status, r.Err)
			}
			if _, err := os.Stat(out + ".manifest.json"); err != nil {
				t.Fatal(err)
			}
			// An error in another process arrives as one line, behind the log.
			text, err := os.ReadFile(spec)
			if err != nil {
				t.Fatal(err)
			}
			other := writeSpec(t, strings.NewReplacer(`"lat": "lat"`, `"lat": "breite"`, out, out+"2.csv").Replace(string(text)))
			args[2] = "--spec=" + other
			r := clitest.Run(t, "", args...)
			lines := strings.Split(strings.TrimSpace(r.Err), "\n")
			if last := lines[len(lines)-1]; r.Status != 1 || !strings.HasPrefix(last, programName+": shard ") || !strings.Contains(last, "breite") {
				t.Errorf("status %d, %s", r.Status, r.Err)
			}
		})
	}
}

// startPrism starts Prism's job server on a free port and returns its address, which its log tells.
func startPrism(t *testing.T, program string) string {
	t.Helper()
	cmd := exec.Command(program, "--serve_http=false", "--job_port=0", "--log_kind=text")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	t.Cleanup(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // and the workers that it has started
		<-read
		cmd.Wait()
	})
	address := make(chan string, 1)
	go func() {
		defer close(read)
		defer close(address)
		for lines := bufio.NewScanner(log); lines.Scan(); {
			if _, endpoint, is := strings.Cut(lines.Text(), "endpoint="); is {
				address <- endpoint
				break
			}
		}
		io.Copy(io.Discard, log)
	}()
	endpoint, is := <-address
	if !is {
		t.Fatal("Prism does not listen")
	}
	return endpoint
}

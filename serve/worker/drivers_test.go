package worker

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden files anew")

// program runs a program that uses the site and compares what it prints with the golden file.
func (s *site) program(golden string, command ...string) {
	s.t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "PGPORT="+s.port, "PGPASSWORD=secret", "LC_ALL=C", "TZ=UTC")
	cmd.Stderr = os.Stderr
	got, err := cmd.Output()
	if err != nil {
		s.t.Errorf("%s: %v", golden, err)
	}
	path := filepath.Join("testdata", golden)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			s.t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(path); err != nil || string(want) != string(got) {
		s.t.Errorf("%s differs (%v); it is now\n%s", path, err, got)
	}
}

// Debian's psycopg 2 and 3, SQLAlchemy and pandas work.
func TestPython(t *testing.T) {
	const python = "/usr/bin/python3"
	if err := exec.Command(python, "-c", "import psycopg, psycopg2, sqlalchemy, pandas").Run(); err != nil {
		t.Skip("install python3-psycopg python3-psycopg2 python3-sqlalchemy python3-pandas")
	}
	serve(t, Config{Timeout: 20 * time.Second}).program("python.txt", python, "testdata/drivers.py")
}

// Debian's pgjdbc works.
func TestJava(t *testing.T) {
	const jars = "/usr/share/java/postgresql.jar:/usr/share/java/scram-client.jar:/usr/share/java/scram-common.jar"
	if _, err := os.Stat("/usr/share/java/postgresql.jar"); err != nil {
		t.Skip("install default-jdk-headless libpostgresql-jdbc-java")
	}
	serve(t, Config{Timeout: 20 * time.Second}).program("java.txt", "java", "-Xshare:auto", "-cp", jars, "testdata/Drivers.java")
}

package conformance

import (
	"path/filepath"
	"testing"

	"github.com/geosql/geosql/internal/need"
	"github.com/geosql/geosql/sqlitefn"
)

func TestPythonPackage(t *testing.T) {
	python := filepath.Join(environment(t), "bin", "python")
	out, err := command("", python, "hosts/python_package.py")
	if err != nil {
		t.Fatal(err)
	}
	if out != sqlitefn.Version {
		t.Errorf("prints %s, want %s", out, sqlitefn.Version)
	}
}

// pip installs the wheel, and the folder that it was packed from. Uninstalling leaves
// nothing behind, which takes a complete RECORD.
func TestPythonPackageIsInstalledAndUninstalled(t *testing.T) {
	environment(t)
	venv := filepath.Join(t.TempDir(), "venv")
	if _, err := command("", python(t), "-m", "venv", venv); err != nil {
		t.Fatal(err)
	}
	python, pip := filepath.Join(venv, "bin", "python"), filepath.Join(venv, "bin", "pip")
	for _, from := range []string{artefact(t, "geosql-*.whl"), filepath.Join(packagesFolder(t), "package", "python")} {
		for _, c := range [][]string{
			{pip, "install", "-q", "--no-index", from},
			{python, "hosts/python_package.py"},
			{pip, "uninstall", "-q", "-y", "geosql"},
		} {
			if _, err := command("", c[0], c[1:]...); err != nil {
				t.Fatal(err)
			}
		}
		left, err := filepath.Glob(filepath.Join(venv, "lib", "python*", "site-packages", "geosql*"))
		if err != nil || len(left) != 0 {
			t.Errorf("of %s %q is left, %v", from, left, err)
		}
	}
}

func TestNodePackage(t *testing.T) {
	folder := project(t)
	node := nodeBinary(t)
	const program = `
		const geosql = require('geosql'), { DatabaseSync } = require('node:sqlite');
		const db = new DatabaseSync(':memory:', { allowExtension: true });
		geosql.load(db);
		geosql.load(db); // harmless
		const { v } = db.prepare('SELECT geosql_version() AS v').get();
		if (v !== require('geosql/package.json').version) throw new Error(v);
		if (!require('node:fs').existsSync(geosql.getLoadablePath())) throw new Error(geosql.getLoadablePath());
		import('geosql').then(({ load }) => { if (load !== geosql.load) throw new Error('import'); console.log(v); });`
	out, err := command(folder, node, "-e", program)
	if err != nil {
		t.Fatal(err)
	}
	if out != sqlitefn.Version {
		t.Errorf("prints %s, want %s", out, sqlitefn.Version)
	}
}

// Where npm has installed no extension, the package says for which platform, and the available ones.
func TestNodePackageWithoutExtension(t *testing.T) {
	node := nodeBinary(t)
	need.Program(t, "npm")
	alone := t.TempDir()
	if _, err := command(alone, "npm", "install", "--offline", "--no-audit", "--no-fund", artefact(t, "geosql-[0-9]*.tgz")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ platform, want string }{
		{"linux", "geosql: the extension for linux-x64 is not installed: npm installs @geosql/linux-x64 unless it omits " +
			"optional dependencies, or the C library of this Linux is not glibc"},
		{"sunos", "geosql: there is no extension for sunos-x64, only for linux-x64"},
	} {
		out, err := command(alone, node, "-e", `
			const geosql = require('geosql');
			Object.defineProperty(process, 'platform', { value: '`+c.platform+`' });
			try { geosql.getLoadablePath() } catch (e) { console.log(e.message) }`)
		if err != nil || out != c.want {
			t.Errorf("%v, says %s, want %s", err, out, c.want)
		}
	}
}

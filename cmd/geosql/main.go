// Command geosql runs SQL over an SQLite database with functions that release
// locations, metered energy and whole traces privately, and charge every
// release to the person it is about.
package main

import (
	"os"

	"github.com/geosql/geosql/cmd/geosql/internal/session"
	"github.com/geosql/geosql/cmd/geosql/internal/store"
	_ "github.com/geosql/geosql/dataset/sqlite" // data sets that are tables of a database, and GeoPackages
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/internal/version"
	"github.com/geosql/geosql/sqlitefn"
)

var program = &cli.Program{
	Name:    session.Program,
	Summary: "private answers inside SQL",
	Noun:    "command",
	Default: sqlCommand,
	Groups: []cli.Group{
		{Title: "Start", Commands: []*cli.Command{initCommand, demoCommand, importCommand}},
		{Title: "Ask", Commands: []*cli.Command{costCommand, budgetCommand, auditCommand}},
		{Title: "Publish", Commands: []*cli.Command{releaseCommand}},
		{Title: "Seal and serve", Commands: []*cli.Command{
			keygenCommand, sealCommand, checkCommand, roleCommand, serveCommand, appendCommand, collectorCommand, eraseCommand, rekeyCommand,
		}},
		{Title: "Look after", Commands: []*cli.Command{backupCommand, restoreCommand, ledgerCommand}},
	},
	DefaultTopic: "sql",
	Version:      session.Program + " " + sqlitefn.Version + ", SQLite " + sqlite.Version() + ", commit " + version.Commit(),
	Topic:        topicHelp,
	Notes: `'geosql help sql' has the flags for SQL. Flags have one or two dashes and may stand
anywhere. The exit status is 0, or 1 after an error, 2 for wrong flags or arguments, 3 from
cost if an account cannot pay, and 130 after Ctrl-C.
`,
}

func main() {
	keepPrivate()
	runWorker()
	os.Exit(program.Main(os.Args[1:]))
}

// topicHelp returns the help about an SQL function, or about a word in it.
func topicHelp(word string) (string, error) {
	conn, err := sqlite.Open(":memory:", sqlite.ReadWrite)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if err := session.Attach(conn, store.LedgerFlags{}); err != nil {
		return "", err
	}
	text, err := session.Topic(conn, word, "geosql help")
	if err != nil {
		return "", cli.UsageError(err.Error())
	}
	return text, nil
}

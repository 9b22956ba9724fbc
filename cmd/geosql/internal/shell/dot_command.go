package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/geosql/geosql/cmd/geosql/internal/output"
	"github.com/geosql/geosql/cmd/geosql/internal/session"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/printable"
)

// A dotCommand is a command of the shell. Its argument is the text behind its name.
type dotCommand struct {
	name, argument, help string
	optional             bool // the argument may be left out
	run                  func(sh *shell, ctx context.Context, argument string) error
}

// dotCommands holds the commands of the shell in the order of .help, which is one of them.
var dotCommands []dotCommand

func init() {
	dotCommands = []dotCommand{
		{".budget", "[ACCOUNT]", "show spent and remaining budgets of accounts", true, (*shell).showBudget},
		{".columns", "TABLE", "list the columns of a table and their types", false, (*shell).showColumns},
		{".confirm", "on|off", "ask before a charge of more than a tenth of what somebody has left", false, onOff(".confirm", (*shell).confirm)},
		{".cost", "SQL", "show the charges of a statement; charges nothing", false, (*shell).showCost},
		{".header", "on|off", "name the columns of tables and CSV", false, onOff(".header", (*shell).header)},
		{".help", "[NAME]", "show this list, or explain a command or a function", true, (*shell).showHelp},
		{".mode", "[MODE]", "show rows as " + strings.Join(output.Names(), ", "), true, (*shell).setMode},
		{".nullvalue", "TEXT", "show NULL as TEXT in tables and lines ('' for nothing)", false, (*shell).setNull},
		{".output", "[FILE]", "write rows to a new file; without FILE, to the terminal again", true, (*shell).setOutput},
		{".preflight", "on|off", "refuse statements that might cost somebody more than is left", false, onOff(".preflight", (*shell).preflight)},
		{".quit", "", "leave the shell (or " + endKey + ")", true, func(*shell, context.Context, string) error { return errQuit }},
		{".read", "FILE", "run the SQL of a file", false, (*shell).readFile},
		{".schema", "[NAME]", "show the statements that created the tables and views", true, (*shell).showSchema},
		{".tables", "[NAME]", "list the tables and views; NAME may have % for any text", true, (*shell).showTables},
		{".timer", "on|off", "print how long each statement takes", false, onOff(".timer", (*shell).setTimer)},
	}
}

// asMeant are commands that other shells have under another name.
var asMeant = map[string]string{"quit": ".quit", "exit": ".quit", `\q`: ".quit", `\d`: ".tables", `\dt`: ".tables", "help": ".help", `\?`: ".help"}

// command returns a line as a command of the shell, "" if it is none: .NAME, or a command of another shell.
func command(line string) string {
	line = strings.TrimSpace(line)
	if strings.HasPrefix(line, ".") {
		return line
	}
	name, argument, _ := strings.Cut(strings.TrimRight(line, " ;"), " ")
	switch meant, known := asMeant[strings.ToLower(name)]; {
	case !strings.HasPrefix(line, `\`) && argument != "":
		return "" // SQL
	case name == `\d` && argument != "":
		return ".columns " + argument
	case known:
		return strings.TrimSpace(meant + " " + argument)
	case strings.HasPrefix(line, `\`):
		return line // which is an error of its own
	}
	return ""
}

const dotHelp = `quit, exit, \q, \d and \d TABLE do as in other shells. The commands in the file %s run first in a shell on a terminal.
Keys: Tab completes, Ctrl-R searches earlier input, Ctrl-C drops the input or stops the running statement.
A row wider than the terminal is shown as a line per column. Long answers go to $PAGER.
`

func (sh *shell) showHelp(_ context.Context, name string) error {
	if name != "" {
		return sh.explain(strings.TrimSuffix(unquote(name), "("))
	}
	for _, c := range dotCommands {
		sayCommand(c)
	}
	fmt.Fprintf(os.Stderr, dotHelp, printable.Text(cmp.Or(configFile(), "geosql/rc")))
	return nil
}

func sayCommand(c dotCommand) {
	fmt.Fprintf(os.Stderr, "%-18s %s\n", strings.TrimSpace(c.name+" "+c.argument), c.help)
}

// explain explains a command of the shell or a function.
func (sh *shell) explain(name string) error {
	for _, c := range dotCommands {
		if c.name == "."+strings.TrimPrefix(name, ".") {
			sayCommand(c)
			return nil
		}
	}
	text, err := session.Topic(sh.Conn, strings.ToLower(name), ".help")
	if err == nil {
		fmt.Fprintln(os.Stderr, strings.TrimSpace(text))
	}
	return err
}

// dotCommand runs a command of the shell, such as .help.
func (sh *shell) dotCommand(ctx context.Context, line string) error {
	name, argument, _ := strings.Cut(line, " ")
	argument = strings.TrimSpace(argument)
	for _, c := range dotCommands {
		switch {
		case c.name != name:
		case argument != "" && c.argument == "":
			return fmt.Errorf("%s: takes no argument", name)
		case argument == "" && !c.optional:
			return fmt.Errorf("%s: needs an argument: %s %s", name, name, c.argument)
		default:
			return c.run(sh, ctx, argument)
		}
	}
	return fmt.Errorf("%s: no such command; .help lists them", line)
}

const (
	tablesSQL = `SELECT type, name FROM pragma_table_list WHERE ` + userTables + `
		AND (name LIKE ?1 OR ?1 IS NULL) ORDER BY name`
	describeSQL = `SELECT name, type, CASE WHEN pk THEN 'primary key' WHEN "notnull" THEN 'not null' ELSE '' END AS rule
		FROM pragma_table_xinfo(?1) WHERE hidden <> 1`
	schemaSQL = `SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL
		AND CASE WHEN ?1 IS NULL THEN tbl_name NOT LIKE 'geosql\_%' ESCAPE '\' ELSE tbl_name = ?1 COLLATE NOCASE END`
)

// query shows the rows of a statement with one parameter: an argument, or NULL if it is empty.
func (sh *shell) query(ctx context.Context, sql, argument string) error {
	return sh.show(ctx, func(ctx context.Context) error { return sh.RunWith(ctx, sql, named(argument)) })
}

// named returns the name in an argument, nil if it is empty.
func named(argument string) *string {
	if argument = unquote(argument); argument == "" {
		return nil
	}
	return &argument
}

func (sh *shell) showTables(ctx context.Context, name string) error {
	return sh.query(ctx, tablesSQL, name)
}

func (sh *shell) showColumns(ctx context.Context, table string) error {
	table = unquote(table)
	if len(sh.names(columnsSQL, table)) == 0 {
		return fmt.Errorf("there is no table %s%s", table, cli.DidYouMean(table, sh.names(tableNamesSQL)))
	}
	return sh.query(ctx, describeSQL, table)
}

func (sh *shell) showSchema(ctx context.Context, name string) error {
	return sh.query(ctx, schemaSQL, name)
}

func (sh *shell) showBudget(ctx context.Context, account string) error {
	return sh.show(ctx, func(ctx context.Context) error { return sh.ShowBalances(ctx, named(account)) })
}

func (sh *shell) showCost(ctx context.Context, sql string) error {
	err := sh.show(ctx, func(ctx context.Context) error { return sh.Session.ShowCost(ctx, sql, false) })
	if errors.As(err, new(cli.ExitError)) {
		return nil // the verdict has been shown
	}
	return err
}

func (sh *shell) setMode(_ context.Context, name string) error {
	if name == "" {
		cli.Say("%s", sh.Mode)
		return nil
	}
	m, ok := output.Modes[name]
	if !ok {
		return fmt.Errorf("%s: no such mode; the modes are %s", name, strings.Join(output.Names(), ", "))
	}
	sh.Mode = m
	return nil
}

// onOff returns a command that switches something on or off.
func onOff(name string, set func(sh *shell, on bool)) func(*shell, context.Context, string) error {
	return func(sh *shell, _ context.Context, state string) error {
		if state != "on" && state != "off" {
			return fmt.Errorf("%s: %s is on or off", state, name)
		}
		set(sh, state == "on")
		return nil
	}
}

func (sh *shell) setTimer(on bool) { sh.timer = on }

func (sh *shell) header(on bool) { sh.Look.NoHeader = !on }

func (sh *shell) preflight(on bool) { sh.NoPreflight = !on }

func (sh *shell) setNull(_ context.Context, text string) error {
	text = unquote(text)
	sh.null = &text
	return nil
}

// setOutput makes rows go to a new file, which only its owner can read, or to the terminal.
func (sh *shell) setOutput(_ context.Context, name string) error {
	name = unquote(name)
	if name == "" {
		return sh.closeFile()
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists; .output writes a new file", name)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, errors.Unwrap(err))
	}
	if err := sh.closeFile(); err != nil {
		f.Close()
		return err
	}
	sh.file = f
	return nil
}

// closeFile closes the file that rows go to, if there is one.
func (sh *shell) closeFile() error {
	if sh.file == nil {
		return nil
	}
	f := sh.file
	sh.file = nil
	return f.Close()
}

// readFile runs the SQL of a file up to the first error.
func (sh *shell) readFile(ctx context.Context, name string) error {
	name = unquote(name)
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("%s: %w", name, errors.Unwrap(err))
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a directory", name)
	}
	return sh.show(ctx, func(ctx context.Context) error { return sh.RunScript(ctx, f) })
}

// unquote takes the quotes from an argument that begins and ends with one.
func unquote(text string) string {
	if n := len(text); n >= 2 && (text[0] == '\'' || text[0] == '"') && text[n-1] == text[0] {
		quote := text[:1]
		return strings.ReplaceAll(text[1:n-1], quote+quote, quote)
	}
	return text
}

package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"golang.org/x/term"

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/ledger/engines"
)

var ledgerCommand = &cli.Command{
	Name: "ledger", Operands: "move|accept ..", Min: 1, Max: 3,
	Summary: "move a ledger to a server and back; accept a loss",
	Details: `move FROM TO
    moves a ledger from a file to a PostgreSQL server, or from a server to a file. One of FROM
    and TO is the name of a file, the other a URL such as postgres://host/database
accept URL
    accepts that the server of a ledger has lost charges, as after an older copy was restored

A ledger moves with its id, its limits, every charge, and all that it remembers. The copy at TO
is verified and compared with FROM to the last digit before anybody can charge it. FROM stays, for
reading: it cannot be charged any more, and says where the ledger went. Stop all programs that
charge it first: their reservations stay. After an interruption give the same
command again. Then name the ledger with --ledger TO wherever FROM was used.

A file has one chain of entries, and a server one for each process that wrote to it. From a file the
chain goes over as it is. To a file the chains are merged in the order in which they were
written, and entries at the end, of function ledger_move, hold the head of each.

  geosql ledger move city.db-ledger postgres://ledger.example/budgets
  geosql --ledger postgres://ledger.example/budgets city.db "SELECT .."`,
	Setup: func(fs *flag.FlagSet) cli.Run {
		var yes bool
		cli.Switch(fs, "yes", "do not ask before a loss is accepted", func() { yes = true })
		return func(ctx context.Context, operands []string) error { return runLedger(ctx, operands, yes) }
	},
}

// runLedger runs an action of the command ledger.
func runLedger(ctx context.Context, operands []string, yes bool) error {
	switch action, rest := operands[0], operands[1:]; {
	case action == "move" && len(rest) == 2:
		return moveLedger(ctx, rest[0], rest[1])
	case action == "move":
		return cli.UsageError("ledger move: give FROM and TO: a file and the URL of a server, or the other way round")
	case action == "accept" && len(rest) == 1:
		return acceptLoss(ctx, rest[0], yes)
	case action == "accept":
		return cli.UsageError("ledger accept: give the URL of the ledger's server")
	default:
		return cli.UsageError("ledger: the action is move or accept, not " + action)
	}
}

// moveLedger moves a ledger.
func moveLedger(ctx context.Context, from, to string) error {
	for _, where := range []string{from, to} {
		if err := engines.Check(where); err != nil {
			return cli.UsageError("ledger move: " + err.Error())
		}
	}
	line := cli.NewTerminalLine()
	moved, err := engines.Move(ctx, from, to, 0, func(doing string) { line.Show("%s", doing) })
	line.Clear()
	if err != nil {
		return fmt.Errorf("ledger move: %w", err)
	}
	if moved.Before {
		cli.Say("%s was moved to %s before; nothing was changed", engines.Label(from), engines.Label(to))
		return nil
	}
	cli.Say("moved ledger %s from %s to %s; entries: %d, balances: %d, limits: %d", moved.ID, engines.Label(from), engines.Label(to),
		moved.Entries, moved.Balances, moved.Limits)
	cli.Say("%s cannot be charged any more: name the ledger with --ledger %s", engines.Label(from), cli.ShellWord(engines.Label(to)))
	return nil
}

// acceptLoss accepts that a server has lost charges.
func acceptLoss(ctx context.Context, url string, yes bool) error {
	if err := engines.Check(url); err != nil {
		return cli.UsageError("ledger accept: " + err.Error())
	}
	if !engines.IsURL(url) {
		return cli.UsageError("ledger accept: give the URL of a server; a ledger in a file that was restored: geosql restore -h")
	}
	if !yes {
		if !cli.Interactive() {
			return cli.UsageError("ledger accept: it asks before it changes anything, and there is no terminal to ask on: give --yes")
		}
		cli.Say("The charges that the server of %s has lost can be spent a second time: all since the copy that it was restored from.", engines.Label(url))
		cli.Say("If you do not want that, restore a newer copy, or set lower limits afterwards.")
		if err := cli.AskYes(ctx, "Accept the loss? Type yes: ", "ledger accept: nothing was changed"); err != nil {
			return err
		}
	}
	if err := engines.Accept(url); err != nil {
		return fmt.Errorf("ledger accept: %w", err)
	}
	if term.IsTerminal(int(os.Stderr.Fd())) {
		cli.Say("accepted; programs that use the ledger have to open it again")
	}
	return nil
}

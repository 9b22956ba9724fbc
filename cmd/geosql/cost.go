package main

import "context"

// costCommand shows what a statement would charge to whom.
func costCommand(ctx context.Context, inv *invocation) error {
	s, err := inv.openExisting()
	if err != nil {
		return err
	}
	return s.close(s.runWith(ctx, "SELECT * FROM budget_cost(?1)", &inv.args[1]))
}

// Package rules decides which charges an account can pay from its budget of one unit: it has the balance under a limit, which may
// hold for windows of time, and the refusal of a charge above it. It stores nothing. The engines of package ledger charge by it, and so does a
// budget on somebody's device.
package rules

// Package rules says what an account may pay of its budget of one unit: its balance under a limit, which may hold for windows
// of time, and the refusal of what it cannot pay. It stores nothing. The engines of package ledger charge by it, and so does a
// budget on somebody's device.
package rules

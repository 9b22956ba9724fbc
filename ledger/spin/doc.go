// Package spin has the protocol of the ledger as a model.
package spin

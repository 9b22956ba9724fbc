// Package sealed hides secrets in a database that anybody may query: a sealed value is an
// authenticated ciphertext of a reading or a location together with the account that pays for
// releases of it. Anybody with the public key can seal; only the owner's key opens. It imports
// nothing of geosql's. Start at Sealer, Opener and Reader.
//
// A [Sealer] is a session of a collector. It makes values of 56 bytes, which name their column,
// their session and a counter; the last two are the identity of the row. An [Opener] is the
// owner's side: it knows the sessions of a database, revoked collectors and the accounts
// that were erased, and gives a [Reader] to each goroutine.
//
// # Secrets of a value
//
// All values have one length. The account, the reading and the location are encrypted with
// AES-256-GCM under a key that each session has for itself, which HPKE (RFC 9180) encapsulates
// to the owner's public key with X25519 and ML-KEM-768. The counter is the nonce, and a session
// never uses one twice. So values tell nothing but their column, their session and the order in
// which the session made them, to anybody with bounded computing power (docs/sealed.md).
//
// # Integrity of a value
//
// Column, session and counter are authenticated with the contents, and the session's key is
// bound to the database. So a value that is changed, moved to another column or session, or
// brought from another database does not open. HPKE's base mode lets anybody begin a session;
// therefore only those open that a key which the owner has enrolled has signed.
package sealed

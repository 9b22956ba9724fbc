// Package serve serves a sealed database to analysts who are not trusted: to PostgreSQL's clients over their protocol, and to
// browsers by a web console. It is the one face of the packages below serve/internal, which nothing else imports; it imports
// the keeper of sealed values, the ledger's engines and sqlitefn, and knows no flags, terminals or signals. Start reading at
// [Open].
//
// A program that serves calls [Open], then [Server.Serve], and [Server.Close] at the end. Each session's SQL runs in a process
// of its own, which has neither the owner's key nor the ledger: [Options.Worker] starts the program again, and there it calls
// [Worker] at once. Only Unix serves; Linux alone confines these processes by namespaces of the kernel.
//
// Roles grant columns and budgets to analysts: [AddRole], [DropRole], [Roles]. They are kept in the ledger, and a server that
// runs follows within a second.
//
// Errors are one line, for the owner: they show paths. Where a setting is at fault, they name the flag of geosql serve that
// has it. Analysts get other texts, which name neither files nor accounts.
package serve

-- Leases on the traces of accounts: see engine.LeaseRow. Most is what a trace of the account may have
-- spent on points that are not saved. The traces have another name, so that a program that knows no
-- leases takes no steps.

CREATE TABLE geosql.lease(
  account text COLLATE "C" NOT NULL, unit text COLLATE "C" NOT NULL,
  "user" bytea, most bigint NOT NULL, lost bigint NOT NULL,
  PRIMARY KEY (account, unit));
ALTER TABLE geosql.trace RENAME TO leased_trace;

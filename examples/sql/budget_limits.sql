-- A budget administrator: who may be released how often, and what was spent.
-- Balances, charges and refusals show who has rows and how many: they are for the
-- owner of the data and never part of a release.
--
--   geosql budget.db < examples/sql/budget_limits.sql

SELECT geo_domain('lisbon', 38.68, -9.25, 38.80, -9.08, 1);
CREATE TABLE trip(person TEXT, lat REAL, lon REAL);
INSERT INTO trip VALUES ('ana', 38.7139, -9.1394), ('ana', 38.7169, -9.1399), ('bo', 38.7075, -9.1364);

-- Without a limit every charge is refused. '*' gives everybody one of that size;
-- a named account keeps its own; 0 blocks.
SELECT budget_limit('*', 'm', 0.05);
SELECT budget_limit('ana', 'm', 0.1);
SELECT budget_limit('chen', 'm', 0);

-- Decimals are exact: ten charges of 0.1 exhaust 1, and 0.02 goes five times
-- into 0.1.
SELECT g.wkt FROM trip AS t, geoind_laplace(t.person, t.lat, t.lon, 0.02) AS g;
SELECT budget_spent('ana', 'm') AS spent, budget_remaining('ana', 'm') AS remaining;

-- A rollback takes back what was written, not what was released.
BEGIN;
SELECT g.wkt FROM trip AS t, geoind_laplace(t.person, t.lat, t.lon, 0.02) AS g WHERE t.person = 'bo';
ROLLBACK;
SELECT budget_spent('bo', 'm') AS spent;

-- What will a statement charge, and to whom? A dry run tells, and neither charges
-- nor draws nor writes. at_most is epsilon where that is certain. bo has too little
-- left: the statement would be refused there.
SELECT account, unit, evaluations, epsilon, at_most, remaining FROM budget_cost('
  CREATE TABLE released AS
  SELECT t.person, g.lat, g.lon FROM trip AS t, geoind_laplace(t.person, t.lat, t.lon, 0.02) AS g');

-- A condition on a released value can decide what else is released, so the costs
-- are a guess. But nobody is charged more than at_most, what they have left.
SELECT account, epsilon, at_most FROM budget_cost('
  SELECT g.lat FROM trip AS t, geoind_laplace(t.person, t.lat, t.lon, 0.01) AS g WHERE g.lat > 38.71');

-- Many people at once: reserve in one transaction instead of one for each.
SELECT budget_reserve(person, 'm', 0.01) AS accounts FROM (SELECT DISTINCT person FROM trip);
SELECT account, spent, reserved, remaining FROM ledger_balance ORDER BY account;

-- What was charged, by which function, for how many evaluations.
SELECT function, account, unit, epsilon, evaluations FROM ledger_charges ORDER BY id;

-- A limit that opens again every day. That is a policy, not a theorem: losses add
-- up across days, and spent is their sum since the beginning.
SELECT budget_limit('dee', 'm', 0.02, 86400);
SELECT geoind_laplace('dee', 38.7139, -9.1394, 0.02);
SELECT epsilon_limit, spent, remaining, window_seconds, reopens > last_charge AS later
FROM ledger_balance WHERE account = 'dee';

-- The head stands for everything that was charged and every limit that was set.
-- Noted elsewhere, it proves later that the ledger was not put back or rewritten:
--   SELECT * FROM ledger_verify('HEAD')
SELECT ledger_head();
SELECT entries, balances, limits FROM ledger_verify(ledger_head());

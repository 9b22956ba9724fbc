-- The readers of a library: statistics about people, of whom each has many rows. What a
-- person pays follows from how the rows are grouped.
--
--   geosql library.db < examples/sql/reading_groups.sql

-- Hours that 200 people read, day by day over a year (made up).
CREATE TABLE reading(person INTEGER, day TEXT, hours REAL);
INSERT INTO reading
WITH RECURSIVE day(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM day WHERE i < 364),
  reader(person) AS (SELECT 1 UNION ALL SELECT person + 1 FROM reader WHERE person < 200)
SELECT person, date('2025-01-01', '+' || i || ' days'), 0.25 + 0.25 * ((i + person) * person % 7)
FROM day, reader WHERE i % (2 + person % 5) = 0;

SELECT dx_universe('day', 0, 24, 0.25, 'hour'), dx_universe('year', 0, 500, 0.25, 'hour');
SELECT budget_limit('*', 'record', 5), budget_limit('*', 'hour', 5);

-- Under 'dh' a person pays epsilon for each row, and some have 183. Asking costs nothing; the
-- rule says what to do.
SELECT max(epsilon) AS epsilon, remaining, rule
FROM budget_cost('SELECT dx_avg(person, hours, 1, ''day'', ''dh'') FROM reading');

-- A question about people needs one row for each. Made in a subquery, the row costs epsilon
-- once, and protects all that the person has done in the year.
SELECT average, dx_within(average) AS within_95
FROM (SELECT dx_avg(person, hours, 1, 'year', 'dh') AS average
      FROM (SELECT person, sum(hours) AS hours FROM reading GROUP BY person));

-- How many people there are costs once, however many rows they have.
SELECT dx_accounts(person, 1) AS people FROM reading;

-- Under 'd1', which protects how long each session was, groups with different rows cost a
-- person once together: twelve months as much as one. It is proved for the statement as
-- SQLite has compiled it.
SELECT DISTINCT epsilon, rule
FROM budget_cost('SELECT substr(day, 1, 7), dx_sum(person, hours, 1, ''day'') FROM reading GROUP BY 1');
SELECT substr(day, 1, 7) AS month, dx_sum(person, hours, 1, 'day') AS hours
FROM reading GROUP BY month;

-- Nor does it matter what the groups are joined with, as long as each row of readings has one row there.
CREATE TABLE person(person INTEGER PRIMARY KEY, branch TEXT);
INSERT INTO person SELECT DISTINCT person, CASE person % 3 WHEN 0 THEN 'north' WHEN 1 THEN 'south' ELSE 'centre' END FROM reading;
SELECT branch, dx_sum(person, hours, 1, 'day') AS hours FROM reading JOIN person USING (person) GROUP BY branch ORDER BY hours DESC LIMIT 2;

-- Where a row may be in several groups, each of them costs, and the rule says which form costs less.
SELECT DISTINCT epsilon, rule
FROM budget_cost('SELECT until, dx_sum(person, hours, 1, ''day'')
  FROM reading JOIN (SELECT ''2025-04-01'' AS until UNION SELECT ''2025-07-01'') ON day < until GROUP BY until');

SELECT DISTINCT unit, spent, remaining FROM ledger_balance WHERE spent > 0;

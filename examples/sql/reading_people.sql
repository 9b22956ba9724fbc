-- One number a person: a month of half-hourly readings of homes, of which each is asked about as a whole. That protects
-- everything a home did, and costs it once.
--
--   geosql homes.db < examples/sql/reading_people.sql

-- A July of 40 homes, 1,488 half hours each (made up). Some use much more than others.
CREATE TABLE reading(home TEXT, half_hour INTEGER, kwh REAL);
INSERT INTO reading
WITH RECURSIVE half_hour(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM half_hour WHERE i < 1487),
  home(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM home WHERE n < 40)
SELECT 'home ' || n, i, (1 + (i * n + i / 48) % 5) * (1 + n % 7) / 20.0
FROM half_hour, home;

SELECT dx_universe('halfhour', 0, 10, 0.05, 'kWh'), dx_universe('month', 0, 2000, 0.05, 'kWh');
SELECT budget_limit('*', 'record', 3);

-- A record of each half hour costs a home 1,488 times. The rule says what to do.
SELECT max(epsilon) AS epsilon, rule
FROM budget_cost('SELECT dx_avg(home, kwh, 1, ''halfhour'', ''dh'') FROM reading');

-- One number of each home costs it once. The ends of its universe are those of a month, and are chosen without looking:
-- the noise grows with them, and a home with more is moved to the end.
SELECT max(epsilon) AS epsilon
FROM budget_cost('SELECT dx_avg(home, kwh, 1, ''month'', ''dh'')
  FROM (SELECT home, sum(kwh) AS kwh FROM reading GROUP BY home)');

SELECT average, dx_within(average) AS within_95
FROM (SELECT dx_avg(home, kwh, 1, 'month', 'dh') AS average
      FROM (SELECT home, sum(kwh) AS kwh FROM reading GROUP BY home));

SELECT dx_median(home, kwh, 1, 'month', 'dh') AS median
FROM (SELECT home, sum(kwh) AS kwh FROM reading GROUP BY home);

-- In a sealed database no subquery can add up, and dx_person takes its place, at the same cost:
--
--   SELECT dx_avg(dx_person(kwh, 0, 2000), 1), dx_median(dx_person(kwh, 0, 2000), 1) FROM reading;
--
-- There it is public which homes have readings. Here that is protected too.
SELECT dx_person(NULL, 0, 2000) AS person_without_a_reading;

SELECT DISTINCT unit, spent, remaining FROM ledger_balance WHERE spent > 0;

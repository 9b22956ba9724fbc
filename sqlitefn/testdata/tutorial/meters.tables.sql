-- Readings of electricity meters, and public tables beside them.
CREATE TABLE readings(meter TEXT, t_local TEXT, kwh REAL);
-- rows
CREATE TABLE homes(meter TEXT PRIMARY KEY, suburb TEXT, persons INTEGER, solar INTEGER, facts TEXT);
INSERT INTO homes SELECT meter, CASE n % 3 WHEN 0 THEN 'north' WHEN 1 THEN 'south' ELSE 'west' END, 1 + n % 4, n % 2, json_object('heating', iif(n % 2, 'gas', 'electric'))
FROM (SELECT meter, row_number() OVER (ORDER BY meter) AS n FROM (SELECT DISTINCT meter FROM readings));
CREATE TABLE tariff(hour INTEGER PRIMARY KEY, name TEXT, price REAL);
WITH RECURSIVE h(n) AS (VALUES (0) UNION ALL SELECT n + 1 FROM h WHERE n < 23)
INSERT INTO tariff SELECT n, CASE WHEN n BETWEEN 17 AND 20 THEN 'peak' WHEN n BETWEEN 7 AND 22 THEN 'day' ELSE 'night' END, 0.1 FROM h;
CREATE TABLE holidays(day TEXT, name TEXT);
INSERT INTO holidays VALUES ('2013-01-01', 'New Year'), ('2013-01-05', 'Saturday'), ('2013-01-06', 'Sunday');
CREATE TABLE results(day, total);
INSERT INTO results SELECT DISTINCT date(t_local), 0 FROM readings;
CREATE TABLE keyed(day PRIMARY KEY, total);
INSERT INTO keyed SELECT * FROM results;
CREATE TABLE half_hours(meter TEXT, t TEXT, kwh REAL, PRIMARY KEY (meter, t)) WITHOUT ROWID;
INSERT OR IGNORE INTO half_hours SELECT * FROM readings;
CREATE INDEX half_hours_t ON half_hours(t);
CREATE VIEW daily_kwh AS SELECT meter, date(t_local) AS day, sum(kwh) AS kwh FROM readings GROUP BY meter, date(t_local);
CREATE VIEW daily_answers AS SELECT date(t_local) AS day, dx_sum(meter, kwh, 0.1, 'kwh') AS s FROM readings GROUP BY 1;
SELECT dx_universe('kwh', 0, 5, 0.001, 'kwh'), dx_universe('day', 0, 100, 0.001, 'kwh');
SELECT budget_limit('*', 'kwh', 9000000), budget_limit('*', 'record', 9000000);

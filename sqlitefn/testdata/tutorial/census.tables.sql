-- How many jobs people of a home block have in a work block, and public tables of places. Digits 1 to 11 of a block are its tract.
CREATE TABLE od(home TEXT, work TEXT, jobs INTEGER);
-- rows
CREATE TABLE blocks(block TEXT PRIMARY KEY, lat REAL, lon REAL, tract TEXT);
INSERT INTO blocks SELECT b, 38.9 + row_number() OVER (ORDER BY b) / 10000.0, -77.0 - row_number() OVER (ORDER BY b) / 15000.0, substr(b, 1, 11)
FROM (SELECT home AS b FROM od UNION SELECT work FROM od);
CREATE TABLE tracts(tract TEXT, ward INTEGER, rent REAL); -- without a key
INSERT INTO tracts SELECT tract, 1 + row_number() OVER (ORDER BY tract) % 3, 900 + 40 * row_number() OVER (ORDER BY tract) FROM (SELECT DISTINCT tract FROM blocks);
CREATE TABLE wards(tract TEXT PRIMARY KEY, ward INTEGER);
INSERT INTO wards SELECT tract, ward FROM tracts;
CREATE TABLE results(k, v);
CREATE VIEW commutes AS SELECT o.home, o.jobs, h.tract AS home_tract, w.tract AS work_tract
FROM od o JOIN blocks h ON h.block = o.home JOIN blocks w ON w.block = o.work;
SELECT dx_universe('jobs', 0, 200, 1, 'job');
SELECT budget_limit('*', 'job', 9000000), budget_limit('*', 'record', 9000000);

-- Check-ins of people, and the public table of the places where these are.
CREATE TABLE checkins(user INTEGER, t TEXT, lat REAL, lon REAL, loc INTEGER);
-- rows
CREATE TABLE venues(loc INTEGER PRIMARY KEY, name TEXT, lat REAL, lon REAL);
INSERT INTO venues SELECT loc, 'venue ' || loc, min(lat), min(lon) FROM checkins GROUP BY loc;
CREATE TABLE friends(a INTEGER, b INTEGER);
INSERT INTO friends SELECT user, user + 1 FROM (SELECT DISTINCT user FROM checkins);
CREATE TABLE places(id INTEGER PRIMARY KEY, user INTEGER, loc INTEGER, hour INTEGER);
INSERT INTO places(user, loc, hour) SELECT user, loc, CAST(strftime('%H', t) AS INTEGER) FROM checkins;
CREATE INDEX places_loc ON places(loc);
CREATE INDEX places_hour ON places(hour);
CREATE TABLE results(k, v);
CREATE VIEW visits AS SELECT user, date(t) AS day, count(*) AS n FROM checkins GROUP BY user, day;
SELECT geo_domain('nyc', 40.4, -74.4, 41.0, -73.6, 10), dx_universe('visits', 0, 50, 1, 'visit'), dx_universe('hour', 0, 24, 0.01, 'hour');
SELECT budget_limit('*', 'visit', 9000000), budget_limit('*', 'hour', 9000000), budget_limit('*', 'record', 9000000), budget_limit('*', 'm', 9000000);

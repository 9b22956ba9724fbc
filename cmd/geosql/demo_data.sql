-- Twelve people around a square and a day of sixty meters, made up by formula.
BEGIN;
CREATE TABLE people (person TEXT, lat REAL, lon REAL);
INSERT INTO people
  WITH names (i, person) AS (VALUES
    (1, 'ana'), (2, 'ben'), (3, 'cleo'), (4, 'dan'), (5, 'eva'), (6, 'finn'),
    (7, 'gina'), (8, 'hugo'), (9, 'ida'), (10, 'jon'), (11, 'kim'), (12, 'lea'))
  SELECT person, 48.8554 + (i * 37 % 25 - 12) * 0.0001, 2.3655 + (i * 53 % 31 - 15) * 0.0001
  FROM names;
CREATE TABLE readings (household TEXT, half_hour INTEGER, kwh REAL);
INSERT INTO readings
  WITH RECURSIVE
    homes (h) AS (VALUES (1) UNION ALL SELECT h + 1 FROM homes WHERE h < 60),
    day (t) AS (VALUES (0) UNION ALL SELECT t + 1 FROM day WHERE t < 47)
  SELECT printf('home%02d', h), t,
    (40 + (h * 7919 + t * 3571) % 260 + CASE WHEN t BETWEEN 36 AND 44 THEN 350 + h * 5 ELSE 0 END) / 1000.0
  FROM homes, day;
-- The square from above, 2 km wide: a line of the view map is 100 m high, and a column 50 m wide.
CREATE TABLE answers (person TEXT, lat REAL, lon REAL);
CREATE VIEW map AS
  WITH
    marks (mark, line, place) AS (
      SELECT 'o', floor((48.8612 - lat) / 0.0009), floor((lon - 2.3519) / 0.00068) FROM answers
      UNION ALL SELECT 'X', floor((48.8612 - lat) / 0.0009), floor((lon - 2.3519) / 0.00068) FROM people),
    lines (line) AS (VALUES (0) UNION ALL SELECT line + 1 FROM lines WHERE line < 12),
    places (place) AS (VALUES (0) UNION ALL SELECT place + 1 FROM places WHERE place < 39)
  SELECT group_concat(coalesce((SELECT min(mark) FROM marks WHERE marks.line = lines.line AND marks.place = places.place), '.'), '') AS "map"
  FROM lines, places GROUP BY lines.line ORDER BY lines.line;
COMMIT;

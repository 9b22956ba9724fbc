-- The readings of ten meters in eight days, an hour each.
WITH RECURSIVE hours(n) AS (VALUES (0) UNION ALL SELECT n + 1 FROM hours WHERE n < 191),
  meters(m) AS (VALUES (1) UNION ALL SELECT m + 1 FROM meters WHERE m < 10)
INSERT INTO readings SELECT 'm' || m, strftime('%Y-%m-%dT%H:%M', '2013-01-01', n || ' hours'), (m * 31 + n * 17 + n * n * 7 % 23) % 97 / 50.0
FROM meters, hours;

-- The check-ins of 25 people at 29 venues in ten days.
WITH RECURSIVE n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < 299)
INSERT INTO checkins SELECT i * 7 % 25, strftime('%Y-%m-%dT%H:%M:%SZ', '2010-10-01', ((i * i * 13 + i * 5) % 240) || ' hours'), 40.7 + i * i % 29 / 300.0,
  -74.0 + i * i * 11 % 29 / 300.0, 101 + i * i % 29 FROM n;

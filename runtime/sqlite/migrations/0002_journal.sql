-- What the entries say is in leaf. The columns up to mark are its index. mac is the
-- authenticator of the row: one byte of flags, and 32 bytes.
CREATE TABLE entry (
  seq     INTEGER PRIMARY KEY,
  at      INTEGER,          -- nanoseconds since 1970 UTC; NULL: no time
  kind    TEXT NOT NULL,
  session TEXT NOT NULL,
  run     TEXT NOT NULL,
  call    TEXT NOT NULL,
  tool    TEXT NOT NULL,
  mark    INTEGER NOT NULL, -- 1 opened, 2 started, 3 ended
  leaf    BLOB NOT NULL,
  mac     BLOB NOT NULL
) STRICT;

CREATE TRIGGER entry_is_not_changed BEFORE UPDATE ON entry BEGIN
  SELECT RAISE(ABORT, 'entries are never changed');
END;

CREATE TRIGGER entry_is_not_deleted BEFORE DELETE ON entry BEGIN
  SELECT RAISE(ABORT, 'entries are never deleted');
END;

-- What may be erased, apart from the leaves.
CREATE TABLE private (
  seq     INTEGER PRIMARY KEY,
  session TEXT NOT NULL,
  data    BLOB NOT NULL
) STRICT;

-- One row per call: what its entries up to owner.indexed amount to.
CREATE TABLE call (
  first     INTEGER PRIMARY KEY, -- its first entry
  session   TEXT NOT NULL,
  call      TEXT NOT NULL,
  run       TEXT NOT NULL,
  tool      TEXT NOT NULL,
  last      INTEGER NOT NULL,    -- its last entry
  kind      TEXT NOT NULL,       -- of its last entry
  opened    INTEGER,             -- the entry that opened it
  started   INTEGER,
  ended     INTEGER,
  opened_at INTEGER,
  ended_at  INTEGER,
  entries   TEXT NOT NULL,       -- all of them: 7,8,12
  UNIQUE (session, call)
) STRICT;

CREATE INDEX call_unfinished ON call (first) WHERE opened IS NOT NULL AND ended IS NULL;
CREATE INDEX call_unsettled ON call (first) WHERE ended IS NOT NULL AND kind NOT IN ('tool.completed', 'tool.failed', 'tool.denied', 'tool.undone');

-- What the entries after that amount to, which are at most 127.
CREATE VIEW call_news AS SELECT
  min(seq) AS first, session, call, max(run) AS run, max(tool) AS tool, max(seq) AS last,
  substr(max(printf('%020d', seq) || kind), 21) AS kind,
  max(CASE mark WHEN 1 THEN seq END) AS opened,
  min(CASE mark WHEN 2 THEN seq END) AS started,
  CASE WHEN max(CASE mark WHEN 3 THEN seq END) > coalesce(max(CASE mark WHEN 1 THEN seq END), 0)
    THEN max(CASE mark WHEN 3 THEN seq END) END AS ended, -- not when it was opened again
  max(CASE mark WHEN 1 THEN at END) AS opened_at,
  CASE WHEN max(CASE mark WHEN 3 THEN seq END) > coalesce(max(CASE mark WHEN 1 THEN seq END), 0)
    THEN max(CASE mark WHEN 3 THEN at END) END AS ended_at,
  group_concat(seq, ',') AS entries
FROM entry WHERE seq > (SELECT indexed FROM owner) AND call <> '' GROUP BY session, call;

-- The calls that have no entries after that, and those that have: together all.
CREATE VIEW call_settled AS
SELECT first, session, call, run, tool, last, kind, opened, started, ended, opened_at, ended_at
FROM call WHERE (session, call) NOT IN (SELECT session, call FROM call_news);

CREATE VIEW call_moving AS
SELECT coalesce(c.first, n.first) AS first, n.session AS session, n.call AS call,
  coalesce(nullif(c.run, ''), n.run) AS run, coalesce(nullif(c.tool, ''), n.tool) AS tool, n.last AS last, n.kind AS kind,
  coalesce(n.opened, c.opened) AS opened, coalesce(c.started, n.started) AS started,
  CASE WHEN n.opened IS NULL THEN coalesce(n.ended, c.ended) ELSE n.ended END AS ended,
  coalesce(n.opened_at, c.opened_at) AS opened_at,
  CASE WHEN n.opened IS NULL THEN coalesce(n.ended_at, c.ended_at) ELSE n.ended_at END AS ended_at
FROM call_news n LEFT JOIN call c ON c.session = n.session AND c.call = n.call;

CREATE TABLE state (
  key   TEXT PRIMARY KEY,
  value BLOB NOT NULL,
  mac   BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE checkpoint (
  size INTEGER PRIMARY KEY, -- entries that it covers
  note BLOB NOT NULL,
  tail BLOB NOT NULL,       -- the authenticator of the last of them: the chain can begin here
  mac  BLOB NOT NULL
) STRICT;

-- The names of the keys that were made. The keys are in a file of their own.
CREATE TABLE key (
  name TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- One row: who may write.
CREATE TABLE owner (
  one     INTEGER PRIMARY KEY CHECK (one = 1),
  store   BLOB NOT NULL,    -- the id that the file of the keys has, too
  epoch   INTEGER NOT NULL,
  pid     INTEGER NOT NULL,
  host    TEXT NOT NULL,
  since   INTEGER NOT NULL,
  beat    INTEGER NOT NULL,
  closed  INTEGER NOT NULL, -- 1: in good order
  indexed INTEGER NOT NULL  -- the entries that the table call covers
) STRICT;

INSERT INTO owner VALUES (1, x'', 0, 0, '', 0, 0, 1, 0);

CREATE TABLE migration (
  version INTEGER PRIMARY KEY,
  name    TEXT NOT NULL,
  at      INTEGER NOT NULL
) STRICT;

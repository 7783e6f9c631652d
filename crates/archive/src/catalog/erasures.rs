//! What was erased by order, and whether its traces are still to be cleared.

use std::collections::BTreeMap;

use rusqlite::params;
use strongroom_core::time::Timestamp;

use super::{Catalog, row, rows, run};
use crate::entry::Order;
use crate::fault::Outcome;
use crate::sql;

impl Catalog<'_> {
    /// What stands for a keyed hash that was erased.
    pub(crate) fn erasure(self, keyed: &[u8; 32]) -> Outcome<Option<Order>> {
        if self.version < sql::VERSION_OF_ORDERS {
            return Ok(None);
        }
        row(self.connection, sql::ERASURE_GET, params![self.archive, keyed], |row| {
            let (who, reason) = (self.text_of(row, 0)?, self.text_of(row, 1)?);
            Ok(Order { who, reason, at: Timestamp::from_ms(row.get(2)?) })
        })
    }

    pub(crate) fn put_erasure(self, keyed: &[u8; 32], erasure: &Order) -> Outcome<()> {
        let (who, reason) = (self.cover.put_text(&erasure.who)?, self.cover.put_text(&erasure.reason)?);
        let values = params![self.archive, keyed, who, reason, erasure.at.as_ms()];
        run(self.connection, sql::ERASURE_PUT, values)?;
        Ok(())
    }

    pub(crate) fn delete_erasure(self, keyed: &[u8; 32]) -> Outcome<()> {
        if self.version >= sql::VERSION_OF_ORDERS {
            run(self.connection, sql::ERASURE_DELETE, params![self.archive, keyed])?;
        }
        Ok(())
    }

    /// Every erasure, by keyed hash.
    pub(crate) fn erasures(self) -> Outcome<BTreeMap<[u8; 32], Order>> {
        if self.version < sql::VERSION_OF_ORDERS {
            return Ok(BTreeMap::new());
        }
        let all = rows(self.connection, sql::ERASURES, [self.archive], |row| {
            let (who, reason) = (self.text_of(row, 1)?, self.text_of(row, 2)?);
            Ok((row.get(0)?, Order { who, reason, at: Timestamp::from_ms(row.get(3)?) }))
        })?;
        Ok(all.into_iter().collect())
    }

    /// Whether bytes that were taken away may still stand in free pages or in the log.
    pub(crate) fn purge_is_due(self) -> Outcome<bool> {
        if self.version < sql::VERSION_OF_ORDERS {
            return Ok(false);
        }
        Ok(row(self.connection, sql::PURGE_GET, [self.archive], |row| Ok(row.get(0)?))?.unwrap_or(false))
    }

    pub(crate) fn note_purge(self) -> Outcome<()> {
        run(self.connection, sql::PURGE_PUT, [self.archive])?;
        Ok(())
    }

    pub(crate) fn note_purged(self) -> Outcome<()> {
        if self.version >= sql::VERSION_OF_ORDERS {
            run(self.connection, sql::PURGE_DELETE, [self.archive])?;
        }
        Ok(())
    }

    /// The same rows with the tables of the newest version.
    pub(crate) fn upgraded(self) -> Outcome<Self> {
        if self.version < sql::VERSION_OF_ORDERS {
            self.connection.execute_batch(sql::SCHEMA_2)?;
            self.connection.execute_batch(sql::UPGRADE)?;
        }
        Ok(Self { version: self.version.max(sql::VERSION_OF_ORDERS), ..self })
    }

    /// The same rows with the tables of a cold tier.
    pub(crate) fn with_tiers(self) -> Outcome<Self> {
        let own = self.upgraded()?;
        if own.version < sql::VERSION_OF_TIERS {
            own.connection.execute_batch(sql::SCHEMA_3)?;
            own.connection.execute_batch(sql::UPGRADE_TO_TIERS)?;
        }
        Ok(Self { version: own.version.max(sql::VERSION_OF_TIERS), ..own })
    }
}

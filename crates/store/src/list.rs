//! Listing objects.

use std::collections::{BTreeMap, BTreeSet};

use futures::TryStreamExt;
use object_store::ObjectMeta;
use object_store::list::PaginatedListOptions;
use object_store::path::Path;

use crate::error::{Doing, StoreError};
use crate::store::Store;
use crate::traffic::Operation;

impl Store {
    /// Sees that the store can be reached, for those who would otherwise wait for something in it.
    ///
    /// # Errors
    /// A bucket that does not exist, or a store that cannot be reached.
    pub fn reach(&self) -> Result<(), StoreError> {
        // No run has this name, so that a listing of it is short.
        self.files(&Path::from("-")).map(drop)
    }

    /// The names of the files in a folder and of the folders in it, without going deeper.
    pub(crate) fn files(&self, folder: &Path) -> Result<BTreeSet<String>, StoreError> {
        Ok(self.list(folder)?.0)
    }

    /// The names of the folders in a folder.
    pub(crate) fn folders(&self, folder: &Path) -> Result<BTreeSet<String>, StoreError> {
        Ok(self.list(folder)?.1)
    }

    /// The names of the files in a folder with this prefix. A bucket lists no others.
    pub(crate) fn files_beginning(&self, folder: &Path, begin: &str) -> Result<BTreeSet<String>, StoreError> {
        self.files_between(folder, begin, None)
    }

    /// The names of the files in a folder that begin with the same character as this name and order after it. A bucket
    /// lists no others.
    pub(crate) fn files_after(&self, folder: &Path, after: &str) -> Result<BTreeSet<String>, StoreError> {
        let first: String = after.chars().take(1).collect();
        self.files_between(folder, &first, Some(after))
    }

    fn files_between(&self, folder: &Path, begin: &str, after: Option<&str>) -> Result<BTreeSet<String>, StoreError> {
        let Some(pages) = self.pages() else {
            let mut files = self.files(folder)?;
            files.retain(|name| name.starts_with(begin) && after.is_none_or(|after| name.as_str() > after));
            return Ok(files);
        };
        let at = self.full(folder);
        let prefix = format!("{at}/{begin}");
        let offset = after.map(|after| format!("{at}/{after}"));
        let (mut names, mut token) = (BTreeSet::new(), None);
        loop {
            let options = || PaginatedListOptions {
                offset: offset.clone(),
                page_token: token.clone(),
                ..PaginatedListOptions::default()
            };
            let list = async || pages.list_paginated(Some(&prefix), options()).await;
            let page = self.request(Operation::List, list).map_err(|e| self.error(Doing::List, folder, &e))?;
            names.extend(page.result.objects.iter().filter_map(|object| object.location.filename().map(str::to_owned)));
            token = page.page_token;
            if token.is_none() {
                return Ok(names);
            }
        }
    }

    /// The files in a folder, each with when it was written by the clock of the place, in milliseconds since 1970.
    pub(crate) fn dated_files(&self, folder: &Path) -> Result<BTreeMap<String, i64>, StoreError> {
        let at = self.full(folder);
        let listed = self.request(Operation::List, async || self.objects().list_with_delimiter(Some(&at)).await);
        let listed = listed.map_err(|e| self.error(Doing::List, folder, &e))?;
        let dated = |object: &ObjectMeta| {
            Some((object.location.filename()?.to_owned(), object.last_modified.timestamp_millis()))
        };
        Ok(listed.objects.iter().filter_map(dated).collect())
    }

    fn list(&self, folder: &Path) -> Result<(BTreeSet<String>, BTreeSet<String>), StoreError> {
        let at = self.full(folder);
        let listed = self.request(Operation::List, async || self.objects().list_with_delimiter(Some(&at)).await);
        let listed = listed.map_err(|e| self.error(Doing::List, folder, &e))?;
        let name = |path: &Path| path.filename().map(str::to_owned);
        let files = listed.objects.iter().filter_map(|object| name(&object.location)).collect();
        Ok((files, listed.common_prefixes.iter().filter_map(name).collect()))
    }

    /// What comes after a name in a folder, without reading what comes before it where possible: the names of
    /// the files, each with nothing, and of the folders, each with its files.
    ///
    /// A bucket lists only later names, so the cost does not grow with the run. A folder on this machine
    /// is read as a whole, which takes microseconds for each name, and those of its folders that come after.
    pub(crate) fn after(
        &self,
        folder: &Path,
        after: Option<&str>,
    ) -> Result<BTreeMap<String, BTreeSet<String>>, StoreError> {
        if self.folder().is_some() {
            let (files, folders) = self.list(folder)?;
            let later = |name: &String| after.is_none_or(|after| name.as_str() > after);
            let empty = files.into_iter().filter(later).map(|name| Ok((name, BTreeSet::new())));
            let full = folders.into_iter().filter(later).map(|name| {
                let inside = self.files(&folder.clone().join(name.as_str()))?;
                Ok((name, inside))
            });
            return empty.chain(full).collect();
        }
        let at = self.full(folder);
        // '.' and '/' order before '0', so this comes after the file or folder of that name and before the next.
        let offset = at.clone().join(format!("{}0", after.unwrap_or_default()));
        let list = async || match after {
            Some(_) => self.objects().list_with_offset(Some(&at), &offset).try_collect::<Vec<_>>().await,
            None => self.objects().list(Some(&at)).try_collect::<Vec<_>>().await,
        };
        let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for object in self.request(Operation::List, list).map_err(|e| self.error(Doing::List, folder, &e))? {
            let mut parts =
                object.location.prefix_match(&at).into_iter().flatten().map(|part| part.as_ref().to_owned());
            if let Some(name) = parts.next() {
                found.entry(name).or_default().extend(parts.next());
            }
        }
        Ok(found)
    }

    /// All files below a folder, however deep, in order of path.
    pub(crate) fn files_below(&self, folder: &Path) -> Result<Vec<Listed>, StoreError> {
        let at = self.full(folder);
        let list = async || self.objects().list(Some(&at)).try_collect::<Vec<_>>().await;
        let found = self.request(Operation::List, list).map_err(|e| self.error(Doing::List, folder, &e))?;
        let below = |object: &ObjectMeta| {
            let path = folder.parts().chain(object.location.prefix_match(&at)?).collect();
            Some(Listed { path, bytes: object.size, written: object.last_modified.timestamp_millis() })
        };
        let mut files: Vec<Listed> = found.iter().filter_map(below).collect();
        files.sort_unstable_by(|one, other| one.path.cmp(&other.path));
        Ok(files)
    }
}

/// A file as a listing shows it.
#[derive(Clone, Debug)]
pub(crate) struct Listed {
    /// Its path in the store.
    pub(crate) path: Path,
    pub(crate) bytes: u64,
    /// When it was written by the clock of the place, in milliseconds since 1970.
    pub(crate) written: i64,
}

//! The screen as live rows under the shell's own scrollback, and the full screen on demand.

use std::io::Write;

use super::super::abilities::Abilities;
use super::super::model::Model;
use super::super::region::{Look, Region};
use super::super::render::links::Links;
use super::super::terminal::{self, Screen};
use super::super::theme::Theme;
use super::super::view::inline::{Printed, live};
use super::super::view::{Caches, FrameInfo};
use crate::config::UiConfig;

/// What was printed and what stands below it.
#[derive(Debug)]
pub(super) struct Inline {
    printed: Printed,
    region: Region,
    /// Columns when the rows were drawn.
    width: u16,
    /// Does the terminal break lines anew when its width changes?
    reflows: bool,
    /// Is the other screen shown?
    is_full: bool,
}

impl Inline {
    pub(super) fn new(settings: &UiConfig, links: Option<Links>) -> Self {
        let can = Abilities::detect(&|name| std::env::var(name).ok());
        let region = Region::new(Look { marks: settings.marks.is_on(can.marks), links });
        let reflows = settings.reflow.is_on(can.reflows);
        Self { printed: Printed::default(), region, width: 0, reflows, is_full: false }
    }

    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    /// The rows may not be what was drawn.
    pub(super) fn distrust(&mut self) {
        self.region.distrust();
    }

    /// Another program had the terminal: there are no rows.
    pub(super) fn forget(&mut self) {
        self.region.forget();
        self.is_full = false;
    }

    /// Shows the other screen; says whether it was not shown before.
    pub(super) fn enter_full(
        &mut self,
        screen: &mut Screen,
        settings: &UiConfig,
    ) -> anyhow::Result<bool> {
        if self.is_full {
            return Ok(false);
        }
        // Rows that are gone cannot be broken by a resize nobody sees.
        self.region.clear(screen.backend_mut())?;
        terminal::keep_rows_above(0);
        terminal::enter_full(screen.backend_mut(), settings)?;
        self.is_full = true;
        Ok(true)
    }

    fn leave_full(&mut self, screen: &mut Screen) -> anyhow::Result<()> {
        if std::mem::take(&mut self.is_full) {
            terminal::leave_full(screen.backend_mut())?;
            self.region.forget();
        }
        Ok(())
    }

    /// Prints what is finished and draws the rest below it.
    pub(super) fn draw(
        &mut self,
        model: &Model,
        theme: &Theme,
        caches: &mut Caches,
        screen: &mut Screen,
        now: f64,
    ) -> anyhow::Result<FrameInfo> {
        self.leave_full(screen)?;
        let size = screen.size()?;
        let (width, height) = (size.width.max(1), size.height.max(1));
        if self.width != width && self.width != 0 {
            self.region.resized(width, self.reflows);
        }
        self.width = width;
        let pieces = self.printed.next(model, theme, (width, height), now);
        let live = live(model, &self.printed, theme, caches, (width, height), now);
        self.region.paint(screen.backend_mut(), &pieces, &live.buffer, live.cursor)?;
        terminal::keep_rows_above(self.region.above());
        Ok(live.info)
    }

    /// Prints all that is left and takes the rows away.
    pub(super) fn print_rest(
        &mut self,
        model: &Model,
        theme: &Theme,
        screen: &mut Screen,
        now: f64,
    ) -> anyhow::Result<()> {
        self.leave_full(screen)?;
        let size = screen.size()?;
        if self.width != size.width && self.width != 0 {
            self.region.resized(size.width, self.reflows);
        }
        let pieces = self.printed.rest(model, theme, (size.width, size.height), now);
        let out = screen.backend_mut();
        self.region.clear(out)?;
        terminal::keep_rows_above(0);
        for piece in &pieces {
            self.region.print(out, piece)?;
        }
        Write::flush(out)?;
        Ok(())
    }
}

"""What-if: worlds that might be. Why a gang waits, and what would make it start: found by trying, on copies."""

"""Verifies the answers of tool-using agents: is each claim supported, and by the very source that it cites?"""
